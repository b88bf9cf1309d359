// Small parts that pages are made of: elements, drawings, numbers in words. Text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
export function draw(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
export const whole = (n) => n.toLocaleString("en-US");
export const plural = (n, word) => `${whole(n)} ${word}${n === 1 ? "" : "s"}`;
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export function number(value, digits = 3) {
  if (value === null) return "not known";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 12 });
  return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
}

// A figure whose drawing has the width that there is, so that its letters have one size everywhere; and what redraws it.
export function fitted(words, height, paint, caption, widthOf = (holder) => Math.round(holder.clientWidth)) {
  const holder = make("figure");
  const svg = draw(holder, "svg", { role: "img", "aria-label": words });
  if (caption) holder.append(make("figcaption", {}, caption));
  let last = 0;
  const render = () => {
    const width = widthOf(holder);
    if (!width || width === last) return;
    last = width;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    paint(svg, width, height);
  };
  new ResizeObserver(render).observe(holder);
  return [holder, render];
}
