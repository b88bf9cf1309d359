// Points of a map by mouse and by arrow keys: at(k) is the place of point k on the canvas, -1 is no point.

export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The point nearest to (x, y), if it is within reach.
export function nearestTo(count, at, x, y, reach = Infinity) {
  let best = -1, least = reach * reach;
  for (let k = 0; k < count; k += 1) {
    const [px, py] = at(k), gap = (px - x) ** 2 + (py - y) ** 2;
    if (gap < least) [least, best] = [gap, k];
  }
  return best;
}

// The nearest point that lies more that way than sideways; k itself where there is none.
export function nextThatWay(count, at, k, dx, dy) {
  const [x, y] = at(k);
  let best = k, least = Infinity;
  for (let other = 0; other < count; other += 1) {
    const [px, py] = at(other), along = (px - x) * dx + (py - y) * dy, across = Math.abs((px - x) * dy - (py - y) * dx);
    const gap = along ** 2 + 3 * across ** 2;
    if (along > 1e-6 && across <= along && gap < least) [least, best] = [gap, other];
  }
  return best;
}

// Beside the point, on the side where there is more room.
export function placeTip(tip, x, y, size) {
  tip.style.left = tip.style.right = tip.style.top = tip.style.bottom = "auto";
  if (x < size / 2) tip.style.left = `${x + 14}px`; else tip.style.right = `${size - x + 14}px`;
  if (y < size / 2) tip.style.top = `${y + 10}px`; else tip.style.bottom = `${size - y + 10}px`;
}
