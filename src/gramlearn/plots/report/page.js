(() => {
  "use strict";
  // What users gave reaches the page as text and as data addresses of pictures, never as markup.
  const data = JSON.parse(document.getElementById("data").textContent);
  const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#882255", "#000000", "#999999", "#b8a800"];
  const DARK = ["#4a9be0", "#e69f00", "#1fbf92", "#e08fbf", "#9ad8ff", "#ff7f3a", "#d1669f", "#f2f2f2", "#9a9a9a", "#d0c030"];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const isDark = () => dark.matches && !printing;
  const redraws = [];

  // ---- small parts

  const section = (name) => document.getElementById(name);
  const note = (text) => make("p", { class: "note" }, text);
  const leaveOut = (name, text) => section(name).append(note(text));
  function typed(text, Kind) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Kind(bytes.buffer);
  }
  function figure(words, height, paint, caption) {
    // On paper the width is not known beforehand: half of a page, or most of it.
    const width = (holder) => (printing ? (holder.closest(".two") ? 340 : 460) : Math.round(holder.clientWidth));
    const [holder, render] = fitted(words, height, paint, caption, width);
    redraws.push(render);
    return holder;
  }

  // ---- points by their names, texts and pictures

  const maps = data.maps, items = data.items;
  const rows = maps.rows ? typed(maps.rows, Uint32Array) : null;
  const count = maps.n_shown;
  const nameOf = (k) => (items.ids ? items.ids[k] : `point ${rows ? rows[k] : k}`);
  const textOf = (k) => (items.texts ? items.texts[k] : nameOf(k));
  const classOf = typed(maps.of_each, Uint16Array);
  const classNames = maps.classes;
  const classText = (k) => (classOf[k] < classNames.length ? classNames[classOf[k]] : "");
  function showItem(k, withName = true) {
    const shown = make("span", { class: `item${items.are_small ? " small" : ""}`, dir: "auto" });
    if (items.images && items.images[k]) {
      shown.append(make("img", { src: items.images[k], alt: nameOf(k), loading: "eager" }));
    } else {
      shown.append(textOf(k));
    }
    if (!withName || (!items.texts && !items.images)) return shown;
    if (items.images && !items.images[k]) return shown;
    return make("div", {}, make("span", { class: "name item", dir: "auto" }, nameOf(k)), shown);
  }
  function spoken(k) {
    const kind = classText(k);
    const text = items.texts ? `: ${textOf(k).slice(0, 200)}` : "";
    return `${nameOf(k)}${kind ? `, ${kind}` : ""}${text}`;
  }

  // ---- about

  for (const [name, value] of data.about) {
    document.getElementById("about").append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }

  // ---- before and after

  function scoreChart(found, words) {
    const low = Math.min(0.5, ...[found.before, found.after].map(([m, e]) => m - 2 * (e || 0) - 0.02));
    const start = Math.max(0, Math.floor(low * 10) / 10);
    return figure(words, 92, (svg, width) => {
      const left = 62, right = width - 64;
      const x = (share) => left + ((share - start) / (1 - start)) * (right - left);
      for (let tick = Math.round(start * 10); tick <= 10; tick += width > 420 || start > 0.4 ? 1 : 2) {
        draw(svg, "line", { x1: x(tick / 10), x2: x(tick / 10), y1: 6, y2: 68, class: "grid" });
        draw(svg, "text", { x: x(tick / 10), y: 84, "text-anchor": "middle" }, `${10 * tick} %`);
      }
      [["before", 22], ["after", 52]].forEach(([name, y]) => {
        const [mean, error] = found[name];
        const group = draw(svg, "g", { class: `c-${name}` });
        draw(group, "text", { x: 0, y: y + 4, class: "strong" }, name);
        if (error !== null) {
          const ends = [mean - 2 * error, mean + 2 * error].map((end) => x(Math.min(1, Math.max(start, end))));
          draw(group, "path", { d: `M${ends[0]} ${y}H${ends[1]}M${ends[0]} ${y - 5}v10M${ends[1]} ${y - 5}v10`, class: "whisker" });
        }
        draw(group, "circle", { cx: x(mean), cy: y, r: 6, class: "dot" });
        draw(group, "text", { x: width, y: y + 4, "text-anchor": "end", class: "strong" }, percent(mean));
      });
    });
  }
  function scoreRow(title, found, words) {
    const said = `Before ${percent(found.before[0])}, after ${percent(found.after[0])}.`;
    const [gain, error] = found.gain;
    return make("div", {},
      make("h3", {}, title),
      make("div", { class: "score-row" },
        scoreChart(found, `${title}. ${said}`),
        make("div", {},
          make("div", { class: "gain" }, `${gain >= 0 ? "+" : "−"}${Math.abs(100 * gain).toFixed(1)} points`),
          make("div", { class: "note" }, error === null ? "too few for a standard error" : `standard error ${(100 * error).toFixed(1)}`))),
      ...words.map(note));
  }
  (() => {
    const { given, held_back: held } = data.scores;
    const place = section("scores");
    if (!given && !held) {
      leaveOut("scores", "Not compared: neither statements nor labels were given, and nothing was held back when it was learned.");
      return;
    }
    if (given) {
      const words = [`The score is ${given.what}. Whiskers are two standard errors to each side; the gain is measured statement by statement, so its error is its own.`];
      if (given.was_learned_from === "no") {
        words.push("They are not what it was learned from, as their number tells. Those that are in both, or about the same points, flatter what was learned.");
      } else {
        words.push((given.was_learned_from === "yes" ? "This is what it was learned from:" : "They are of the number and kind that it was learned from; if they are the same,")
          + " the score says how well they are honored, not how well new ones will be. "
          + (held ? "What was held back, below, says that." : "Hold some back to learn that."));
      }
      place.append(scoreRow(`On the ${given.of} given`, given, words));
    }
    if (held) {
      const chosen = held.is_plain ? "The plain distance was kept." : "The one chosen is the best of them, which flatters it a little; the gain that the verdict names was measured by what had no part in choosing it.";
      place.append(scoreRow("On what was held back when it was learned", held,
        [`${held.n_tried === 1 ? "One candidate was" : `${whole(held.n_tried)} candidates were`} tried, see the end of the page. ${chosen}`]));
    }
  })();

  // ---- maps

  const planes = [typed(maps.before, Uint16Array), typed(maps.after, Uint16Array)];
  const near = [typed(maps.near_before, Uint16Array), typed(maps.near_after, Uint16Array)];
  const nearest = (side, k) => Array.from(near[side].subarray(k * maps.n_nearest, (k + 1) * maps.n_nearest));
  const state = { at: -1, picked: -1, marked: [] };
  const views = [];

  function shape(context, kind, x, y, r) {
    context.beginPath();
    const corners = { 1: [4, 45], 2: [3, -90], 3: [4, 0], 4: [3, 90], 5: [3, 180], 6: [3, 0], 7: [5, -90], 8: [6, 0] }[kind];
    if (kind === 9) {
      for (let m = 0; m < 10; m += 1) {
        const turn = (Math.PI * m) / 5 - Math.PI / 2, size = m % 2 ? r * 0.55 : r * 1.35;
        context.lineTo(x + size * Math.cos(turn), y + size * Math.sin(turn));
      }
    } else if (corners) {
      const [n, turn] = corners, size = r * (n === 3 ? 1.35 : 1.2);
      for (let m = 0; m < n; m += 1) {
        const angle = ((360 / n) * m + turn) * (Math.PI / 180);
        context.lineTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
      }
    } else {
      context.arc(x, y, r, 0, 2 * Math.PI);
    }
    context.closePath();
  }
  function pointLook(k) {
    const kind = classOf[k], colors = isDark() ? DARK : LIGHT, place = Math.min(kind, maps.n_colored, 9);
    if (!classNames.length) return [colors[0], 0];
    return kind < classNames.length ? [colors[place], place] : [isDark() ? "#667080" : "#b4bcc6", 0];
  }

  function addMap(side, title, share) {
    const canvas = make("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "map", "aria-describedby": "maps-words maps-keys",
      "aria-label": `${title}: ${plural(count, "point")}`, id: `map-${side ? "after" : "before"}`,
    });
    const tip = make("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    const holder = make("div", { class: "map" }, canvas, tip);
    const caption = share.map((part) => percent(part, 0)).join(" and ");
    const shown = make("figure", {}, make("h3", {}, title), holder,
      make("figcaption", {}, `Two principal directions, ${caption} of the variance.`));
    const base = document.createElement("canvas");
    const xy = planes[side];
    let size = 0, scale = 1;
    const at = (k) => [14 + (xy[2 * k] / 65535) * (size - 28), 14 + (1 - xy[2 * k + 1] / 65535) * (size - 28)];
    const radius = Math.max(1.9, Math.min(4.8, 110 / Math.sqrt(Math.max(count, 1))));

    function paintBase() {
      const width = holder.clientWidth;
      if (!width && !size) return;
      if (width && !printing) size = width;
      scale = Math.max(2, window.devicePixelRatio || 1);
      for (const each of [canvas, base]) each.width = each.height = Math.round(size * scale);
      const context = base.getContext("2d");
      context.scale(scale, scale);
      context.lineWidth = 0.6;
      context.strokeStyle = isDark() ? "#10151c" : "#ffffff";
      context.globalAlpha = count > 3000 ? 0.65 : 0.88;
      for (let k = 0; k < count; k += 1) {
        const [color, kind] = pointLook(k), [x, y] = at(k);
        context.fillStyle = color;
        shape(context, kind, x, y, radius);
        context.fill();
        if (count <= 3000) context.stroke();
      }
    }
    function ring(context, k, color, r, dashes) {
      const [x, y] = at(k);
      context.strokeStyle = color;
      context.lineWidth = 2;
      context.setLineDash(dashes || []);
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      context.stroke();
      context.setLineDash([]);
    }
    function paint() {
      if (!size) return;
      const context = canvas.getContext("2d");
      const ink = isDark() ? "#ffffff" : "#16202c";
      const colors = isDark() ? ["#5cb4f0", "#ff9a52"] : ["#0072b2", "#c24a00"];
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.globalAlpha = state.picked >= 0 || state.marked.length ? 0.45 : 1;
      context.drawImage(base, 0, 0);
      context.globalAlpha = 1;
      context.setTransform(scale, 0, 0, scale, 0, 0);
      const again = (k, grow) => {
        const [color, kind] = pointLook(k), [x, y] = at(k);
        context.fillStyle = color;
        shape(context, kind, x, y, radius + grow);
        context.fill();
      };
      if (state.picked >= 0) {
        const k = state.picked, [x, y] = at(k);
        const sets = [nearest(0, k), nearest(1, k)];
        context.strokeStyle = colors[side];
        context.globalAlpha = 0.55;
        context.lineWidth = 1;
        for (const other of sets[side]) {
          context.beginPath();
          context.moveTo(x, y);
          context.lineTo(...at(other));
          context.stroke();
        }
        context.globalAlpha = 1;
        sets.forEach((set) => set.forEach((other) => again(other, 0.8)));
        sets[0].forEach((other) => ring(context, other, colors[0], radius + 4));
        sets[1].forEach((other) => ring(context, other, colors[1], radius + 7.5, [4, 3]));
        again(k, 2);
        ring(context, k, ink, radius + 5.5);
      }
      if (state.marked.length) {
        context.strokeStyle = ink;
        context.lineWidth = 1.5;
        for (let m = 1; m < state.marked.length; m += 1) {
          context.beginPath();
          context.moveTo(...at(state.marked[0]));
          context.lineTo(...at(state.marked[m]));
          context.stroke();
        }
        state.marked.forEach((k) => { again(k, 2); ring(context, k, ink, radius + 5.5); });
      }
      if (state.at >= 0) {
        again(state.at, 1);
        ring(context, state.at, ink, radius + 3.5);
      }
    }
    function find(event) {
      const box = canvas.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * size, y = ((event.clientY - box.top) / box.height) * size;
      return nearestTo(count, at, x, y, event.pointerType === "touch" ? 26 : 14);
    }
    function showTip(k) {
      tip.hidden = k < 0;
      if (k < 0) return;
      const kind = classText(k);
      tip.replaceChildren(showItem(k), kind ? make("div", { class: "role", dir: "auto" }, kind) : "");
      placeTip(tip, ...at(k), size);
    }
    const inTheMiddle = () => nearestTo(count, at, size / 2, size / 2);
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !count) return;
      const start = state.at >= 0 ? state.at : state.picked;
      const { key } = event;
      if (ARROWS[key]) goTo(start < 0 ? inTheMiddle() : nextThatWay(count, at, start, ...ARROWS[key]), side);
      else if (key === "n" || key === "p") goTo((start + (key === "n" ? 1 : -1) + count) % count, side);
      else if (key === "Home") goTo(0, side);
      else if (key === "End") goTo(count - 1, side);
      else if (key === "Enter" || key === " ") pick(start < 0 ? inTheMiddle() : start);
      else if (key === "Escape") clear();
      else return;
      event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") look(find(event), side); });
    canvas.addEventListener("pointerleave", () => look(-1, side));
    canvas.addEventListener("blur", () => look(-1, side));
    canvas.addEventListener("click", (event) => {
      const k = find(event);
      if (k < 0) clear(); else pick(k);
    });
    let last = 0;
    new ResizeObserver(() => {
      if (holder.clientWidth === last || printing) return;
      last = holder.clientWidth;
      paintBase();
      paint();
    }).observe(holder);
    views.push({ paint, showTip, canvas, at: (k) => at(k).map((v) => v / (size || 1)) });
    redraws.push(() => { paintBase(); paint(); });
    return shown;
  }
  const repaint = () => views.forEach((view) => view.paint());
  function look(k, side) {
    if (state.at === k) return;
    state.at = k;
    views.forEach((view, which) => view.showTip(which === side ? k : -1));
    repaint();
  }
  const say = (words) => { document.getElementById("spoken").textContent = words; };
  function goTo(k, side) {
    look(k, side);
    say(spoken(k));
  }
  function clear() {
    state.picked = -1;
    state.marked = [];
    repaint();
    showPicked();
    say("Nothing is marked.");
  }
  function pick(k) {
    state.picked = k;
    state.marked = [];
    repaint();
    showPicked();
    const [a, b] = [nearest(0, k), nearest(1, k)];
    say(`${spoken(k)}. Nearest before: ${a.map(nameOf).join(", ")}. Nearest after: ${b.map(nameOf).join(", ")}.`);
  }
  function mark(points) {
    state.picked = -1;
    state.marked = points;
    repaint();
    showPicked();
    section("maps").scrollIntoView();
    views[1].canvas.focus({ preventScroll: true });
    say(`Marked on both maps: ${points.map(nameOf).join(", ")}.`);
  }
  const panel = make("div", { class: "picked", id: "picked" });
  function nearList(side, k) {
    const these = nearest(side, k), others = new Set(nearest(1 - side, k));
    const list = make("ol", { class: `near${items.images ? " pictures" : ""}` });
    for (const other of these) {
      const kind = classText(other);
      const button = make("button", { type: "button" }, showItem(other, false),
        items.texts || (items.images && items.images[other]) ? make("span", { class: "tag", dir: "auto" }, nameOf(other)) : null,
        kind ? make("span", { class: "tag", dir: "auto" }, kind) : null);
      button.addEventListener("click", () => { pick(other); panel.focus(); });
      list.append(make("li", { class: others.has(other) ? "both" : null, "data-place": other }, button));
    }
    const both = these.filter((other) => others.has(other)).length;
    const title = make("h3", { class: side ? "c-after" : "c-before" }, side ? `${these.length} nearest after` : `${these.length} nearest before`);
    return make("div", { id: side ? "near-after" : "near-before" }, title,
      note(side ? `${both} of them were near before as well (dashed).` : `${both} of them are near after as well (dashed).`), list);
  }
  function showPicked() {
    panel.replaceChildren();
    if (state.marked.length) {
      panel.append(make("div", { class: "chosen" }, ...state.marked.map((k) => showItem(k))));
      return;
    }
    const k = state.picked;
    if (k < 0) return;
    const kind = classText(k);
    panel.append(
      make("div", { class: "chosen" }, make("div", {}, showItem(k), kind ? make("div", { class: "role", dir: "auto" }, kind) : "")),
      make("div", { class: "two" }, nearList(0, k), nearList(1, k)));
  }
  (() => {
    const place = section("maps");
    const of = maps.n_points === count ? `All ${plural(count, "point")}` : `${whole(count)} of ${plural(maps.n_points, "point")}, drawn at random,`;
    const words = make("p", { id: "maps-words" },
      `${of} by plain distance and by the learned one. `
      + `Of the ${maps.n_nearest} nearest of a point${maps.n_points === count ? "" : " among those shown"}, ${maps.kept.toFixed(1)} stay the same on average. `
      + (maps.same_class ? `Of the same class are ${percent(maps.same_class[0], 0)} of them before and ${percent(maps.same_class[1], 0)} after. ` : "")
      + (maps.columns_share === null ? "" : `The learned map is of the columns that transform gives, which keep ${percent(maps.columns_share, 0)} of the learned squared distances.`));
    place.append(words);
    if (classNames.length) {
      const legend = make("ul", { class: "legend", "aria-label": "Classes" });
      const others = maps.n_classes - maps.n_colored;
      [...classNames.slice(0, maps.n_colored), ...(others ? [`${whole(others)} other classes`] : [])].forEach((name, kind) => {
        const sample = make("canvas", { width: 32, height: 32, "aria-hidden": "true" });
        const paint = () => {
          const context = sample.getContext("2d");
          context.clearRect(0, 0, 32, 32);
          context.fillStyle = (isDark() ? DARK : LIGHT)[kind];
          shape(context, kind, 16, 16, 9);
          context.fill();
        };
        paint();
        redraws.push(paint);
        legend.append(make("li", {}, sample, make("span", { dir: "auto" }, name)));
      });
      place.append(legend);
    }
    place.append(make("div", { class: "two" },
      addMap(0, "Before", maps.share_before), addMap(1, "After", maps.share_after)));
    const field = make("input", { type: "search", id: "find", placeholder: items.texts ? "words of an item" : "name of a point", "aria-label": "Find an item" });
    const go = make("button", { type: "submit" }, "Find");
    const form = make("form", { class: "tools", role: "search" }, field, go,
      make("p", { class: "note", id: "maps-keys" }, "Point to see an item, click to see its neighbors. Keys on a map: arrows move, Enter shows neighbors, n and p go through all, Escape clears."));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const words = field.value.trim().toLowerCase();
      if (!words) return;
      const start = Math.max(state.picked, -1) + 1;
      for (let step = 0; step < count; step += 1) {
        const k = (start + step) % count;
        if (nameOf(k).toLowerCase().includes(words) || textOf(k).toLowerCase().includes(words) || classText(k).toLowerCase() === words) {
          pick(k);
          return;
        }
      }
      say("Nothing found.");
      field.setCustomValidity("Nothing found.");
      field.reportValidity();
      field.setCustomValidity("");
    });
    const rings = make("ul", { class: "legend screen", "aria-hidden": "true" });
    [["c-before", "near before", null], ["c-after", "near after", "4 3"]].forEach(([kind, name, dashes]) => {
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 16 16");
      const circle = draw(svg, "circle", { cx: 8, cy: 8, r: 6, class: "whisker" });
      if (dashes) circle.setAttribute("stroke-dasharray", dashes);
      rings.append(make("li", { class: kind }, svg, name));
    });
    panel.tabIndex = -1;
    place.append(form, rings, panel);
    if (items.images && Object.keys(items.images).length < count) {
      place.append(note(`${whole(Object.keys(items.images).length)} of ${whole(count)} pictures are in this file; all would make it too large.`));
    }
  })();

  // ---- squared distances of pairs

  (() => {
    const found = data.lengths;
    if (!found) {
      leaveOut("lengths", "Left out: there are no pairs, neither given nor from labels.");
      return;
    }
    const place = section("lengths");
    const logs = found.edges.map(Math.log10);
    const [low, high] = [logs[0], logs[logs.length - 1]];
    const most = Math.max(...["before", "after"].flatMap((name) => found[name].flatMap((kind) => kind.shares)), 0.01);
    const legend = make("ul", { class: "legend" });
    ["alike", "unlike"].forEach((kind, k) => {
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("viewBox", "0 0 16 16");
      draw(svg, "rect", { x: 2, y: 2, width: 12, height: 12, class: "area" });
      legend.append(make("li", {}, make("span", { class: `c-${kind}` }, svg), `${found.names[k]} (${whole(found.before[k].n)})`));
    });
    place.append(legend);
    const medians = (name) => found[name].map((kind, k) => (kind.median === null ? null : `${found.names[k]} ${number(kind.median)}`)).filter(Boolean).join(", ");
    const panels = ["before", "after"].map((name) => {
      const title = name === "before" ? "Before" : "After";
      const chart = figure(`${title}: shares of the pairs by squared distance. Medians: ${medians(name)}.`, 190, (svg, width) => {
        const bottom = 150, top = 24, left = 34, right = width - 8;
        const x = (log) => left + ((log - low) / (high - low)) * (right - left);
        const y = (share) => bottom - (share / most) * (bottom - top);
        for (const share of [most / 2, most]) {
          draw(svg, "line", { x1: left, x2: right, y1: y(share), y2: y(share), class: "grid" });
          draw(svg, "text", { x: left - 5, y: y(share) + 4, "text-anchor": "end" }, `${Math.round(100 * share)} %`);
        }
        draw(svg, "line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" });
        const decades = Math.max(1, Math.ceil((high - low) / (width / 70)));
        const marks = [];
        for (let tick = Math.ceil(low); tick <= high; tick += decades) marks.push(tick);
        const fine = marks.length < 2 ? [1, 2, 5].flatMap((m) => [-1, 0, 1].map((e) => Math.log10(m) + Math.floor(low) + e)).filter((t) => t > low && t < high) : marks;
        for (const tick of fine) {
          draw(svg, "line", { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4, class: "axis" });
          draw(svg, "text", { x: x(tick), y: bottom + 17, "text-anchor": "middle" }, number(10 ** tick, 1));
        }
        draw(svg, "text", { x: (left + right) / 2, y: bottom + 35, "text-anchor": "middle" }, "squared distance");
        found[name].forEach((kind, k) => {
          if (!kind.shares.length) return;
          let path = `M${x(low)} ${bottom}`;
          kind.shares.forEach((share, bin) => { path += `V${y(share)}H${x(logs[bin + 1])}`; });
          draw(draw(svg, "g", { class: k ? "c-unlike" : "c-alike" }), "path", { d: `${path}V${bottom}Z`, class: "area" });
        });
        found.lines.forEach(([words, value], k) => {
          if (found.is_threshold && name === "before") return; // it is for learned distances alone
          const at = x(Math.log10(value)), isRight = k > 0 || found.lines.length === 1;
          draw(svg, "line", { x1: at, x2: at, y1: top - 8, y2: bottom, class: "bound" });
          draw(svg, "text", { x: at + (isRight ? 4 : -4), y: top - 11, "text-anchor": at > width - 80 || !isRight && at > 90 ? "end" : "start" }, words);
        });
      }, `Medians: ${medians(name)}.`);
      return make("div", {}, make("h3", {}, title), chart);
    });
    place.append(make("div", { class: "two" }, ...panels));
    const of = found.n_pairs === found.n_counted ? "" : ` ${whole(found.n_counted)} of ${whole(found.n_pairs)} pairs were counted.`;
    place.append(note((found.is_drawn ? "The pairs were drawn from the labels." : "The pairs are those of the statements.") + of
      + (found.lines.length ? ` Dashed: ${found.lines.map(([words, value]) => `${words} ${number(value)}`).join(", ")}.` : "")));
  })();

  // ---- what counts

  function bars(entries, look) {
    const list = make("dl", { class: "bars" });
    for (const [name, value] of entries) {
      const { left, width, words, kind, line } = look(value);
      const bar = make("i");
      bar.style.left = `${left}%`;
      bar.style.width = `${width}%`;
      const track = make("dd", { class: `track ${kind}`, "aria-hidden": "true" }, bar);
      if (line !== undefined) {
        const one = make("b");
        one.style.left = `${line}%`;
        track.append(one);
      }
      list.append(make("dt", { dir: "auto" }, name), track, make("dd", { class: "value" }, words));
    }
    return list;
  }
  (() => {
    const { features, directions } = data;
    const place = section("features");
    if (!features && !directions) {
      leaveOut("features", `Left out: this learner says nothing of single features.`);
      return;
    }
    if (features) {
      const most = Math.max(...features.shares.map(([, share]) => share), 1e-12);
      const logs = features.stretch.map(([, s]) => Math.log(s));
      const [least, largest] = [Math.min(...logs, 0), Math.max(...logs, 0)];
      const percentOf = 100 / Math.max(largest - least, Math.log(1.1)), line = -least * percentOf;
      const shares = bars(features.shares, (share) => ({ left: 0, width: (100 * share) / most, words: percent(share), kind: "c-alike" }));
      const stretch = bars(features.stretch, (s) => {
        const width = Math.abs(Math.log(s)) * percentOf;
        return { left: s >= 1 ? line : line - width, width, words: `× ${number(s)}`, kind: s >= 1 ? "c-alike" : "c-unlike", line };
      });
      const more = features.n - features.shares.length;
      place.append(make("div", { class: "two" },
        make("div", {}, make("h3", {}, "Shares of the squared distances"), shares,
          more > 0 ? note(`${plural(more, "other feature")} ${more === 1 ? "has" : "have"} ${percent(features.rest)}.`) : null),
        make("div", {}, make("h3", {}, "Squared distances along one feature, times"), stretch,
          note("Left of the line the feature was shrunk, right of it stretched, in comparison with the prior."))));
    }
    if (directions && directions.length) {
      const table = make("table", {}, make("caption", { class: "unseen" }, "Directions stretched and shrunk most"));
      table.append(make("thead", {}, make("tr", {}, ...[["stretch", true], ["share", true], ["made of", false]].map(([name, right]) => make("th", { scope: "col", class: right ? "number" : null }, name)))));
      const body = make("tbody");
      for (const direction of directions) {
        const made = make("td");
        direction.features.forEach(([name, size], m) => {
          made.append(m ? "  " : "", `${size >= 0 ? "+" : "−"}${Math.abs(size).toFixed(2)} `, make("bdi", {}, name));
        });
        body.append(make("tr", {}, make("td", { class: "number" }, `× ${number(direction.stretch)}`), make("td", { class: "number" }, percent(direction.share)), made));
      }
      table.append(body);
      const title = make("h3", { class: "spaced" }, "Directions stretched and shrunk most");
      place.append(title, make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Directions" }, table),
        note("The share is of the learned squared distances. Sizes are in units of the deviation of each feature."));
    }
  })();

  // ---- statements

  function saying(says) {
    if (says.kind === "alike") return ["called alike", ["", ""]];
    if (says.kind === "unlike") return ["called unlike", ["", ""]];
    if (says.kind === "bounds") {
      const parts = [];
      if (says.lower !== null) parts.push(`at least ${number(says.lower)}`);
      if (says.upper !== null) parts.push(`at most ${number(says.upper)}`);
      return [`squared distance ${parts.join(" and ") || "free"}`, ["", ""]];
    }
    return ["comparison", null];
  }
  const FIRST = 4;
  function cards(found) {
    const list = make("ol", { class: "cards" }), more = make("ol", { class: "cards", start: FIRST + 1 });
    for (const [place, statement] of found.first.entries()) {
      let [words, roles] = saying(statement.says);
      if (!roles) {
        roles = statement.points.length === 3 ? ["this", "is nearer to this", "than to this"] : ["this", "and this are nearer than", "this", "and this"];
      }
      const button = make("button", { type: "button" }, "Show on the maps");
      button.addEventListener("click", () => mark(statement.points));
      const points = make("div", { class: "points" }, ...statement.points.map((k, m) =>
        make("div", {}, roles[m] ? make("div", { class: "role" }, roles[m]) : null, showItem(k), classText(k) ? make("div", { class: "role", dir: "auto" }, classText(k)) : null)));
      (place < FIRST ? list : more).append(make("li", { class: "card" },
        make("header", {}, make("span", {}, make("b", {}, words), ` · ${number(statement.size)}`), button), points));
    }
    if (!more.childElementCount) return [list];
    return [list, make("details", {}, make("summary", {}, `${whole(more.childElementCount)} more`), more)];
  }
  (() => {
    const found = data.statements;
    const place = section("statements");
    if (!found) {
      leaveOut("statements", "Left out: no statements were given.");
      return;
    }
    const columns = make("div", { class: "two" });
    const column = (title, ranked, none, missing) => {
      const holder = make("div", {}, make("h3", {}, title));
      if (!ranked) holder.append(note(missing));
      else if (!ranked.n) holder.append(note(none));
      else {
        const first = ranked.n > ranked.first.length ? `The first ${ranked.first.length} of ${whole(ranked.n)}` : `${whole(ranked.n)}`;
        holder.append(note(`${first} of ${plural(found.n, "statement")}, by ${ranked.meaning}.`));
        if (ranked === found.suspects) {
          holder.append(note("The first are the most likely to be wrong, and all may be right: metrics that were learned without a statement speak against it."));
        }
        holder.append(...cards(ranked));
      }
      columns.append(holder);
    };
    column("Suspects", found.suspects, "None: what was learned from the others speaks against no statement.", found.why_not);
    column("Still violated", found.violated, "None: the metric keeps every statement.", "Left out: this learner does not list them.");
    place.append(columns);
  })();

  // ---- certificate

  (() => {
    const found = data.certificate;
    const place = section("certificate");
    if (!found) {
      leaveOut("certificate", "Left out: this learner takes one step after another, and has no optimum to be compared with.");
      return;
    }
    const facts = make("dl", { class: "facts" });
    const fact = (name, value) => facts.append(make("dt", {}, name), make("dd", {}, value));
    fact("primal value", number(found.primal, 9));
    fact("dual value", number(found.dual, 9));
    fact("gap", number(found.gap, 2));
    fact("relative gap", number(found.relative_gap, 2) + (found.tol === null ? "" : `, asked for ${number(found.tol, 2)}`));
    if (found.violation) fact("largest violation", number(found.violation, 2));
    fact("status", `${found.status}: ${found.sentence}`);
    fact("effort", `${plural(found.iterations, "iteration")}, ${number(found.seconds, 2)} seconds`);
    const known = found.history.filter(([, gap]) => gap !== null && gap > 0);
    const right = make("div");
    if (known.length > 1) {
      const gaps = known.map(([, gap]) => Math.log10(gap)).concat(found.tol ? [Math.log10(found.tol)] : []);
      const [low, high] = [Math.floor(Math.min(...gaps)), Math.ceil(Math.max(...gaps))];
      const last = Math.max(...found.history.map(([seconds]) => seconds), 1e-9);
      right.append(make("h3", {}, "The gap as it closed"), figure(
        `Relative gap against seconds, from ${number(known[0][1], 2)} to ${number(known[known.length - 1][1], 2)} in ${number(last, 2)} seconds.`, 200, (svg, width) => {
          const left = 44, bottom = 160, top = 8, end = width - 10;
          const x = (seconds) => left + (seconds / last) * (end - left);
          const y = (log) => bottom - ((log - low) / Math.max(1, high - low)) * (bottom - top);
          const step = Math.max(1, Math.ceil((high - low) / 5));
          for (let tick = low; tick <= high; tick += step) {
            draw(svg, "line", { x1: left, x2: end, y1: y(tick), y2: y(tick), class: "grid" });
            draw(svg, "text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, tick >= -2 && tick <= 3 ? number(10 ** tick, 1) : `1e${tick}`);
          }
          for (const part of [0, 0.5, 1]) {
            draw(svg, "text", { x: x(part * last), y: bottom + 16, "text-anchor": part === 1 ? "end" : part ? "middle" : "start" }, number(part * last, 2));
          }
          draw(svg, "text", { x: (left + end) / 2, y: bottom + 34, "text-anchor": "middle" }, "seconds");
          draw(svg, "line", { x1: left, x2: end, y1: bottom, y2: bottom, class: "axis" });
          const group = draw(svg, "g", { class: "c-alike" });
          const path = known.map(([seconds, gap], k) => (k ? `H${x(seconds)}V${y(Math.log10(gap))}` : `M${x(seconds)} ${y(Math.log10(gap))}`)).join("");
          draw(group, "path", { d: path, class: "curve" });
          known.forEach(([seconds, gap]) => draw(group, "circle", { cx: x(seconds), cy: y(Math.log10(gap)), r: 3, class: "dot" }));
          if (found.tol) draw(svg, "line", { x1: left, x2: end, y1: y(Math.log10(found.tol)), y2: y(Math.log10(found.tol)), class: "bound" });
        }, found.tol ? "Dashed: the tolerance." : null));
    } else {
      right.append(note("The gap as it closed is not drawn: fewer than two finite gaps were recorded."));
    }
    place.append(make("p", {}, found.is_answer
      ? "No other answer to the problem that was posed is better by more than the gap: that is proven by the dual value."
      : "The search ended before the tolerance was reached; no other answer is better by more than the gap."),
    found.mixture === null ? "" : make("p", {}, found.mixture),
    make("div", { class: "two" }, facts, right));
  })();

  // ---- what was tried

  (() => {
    const found = data.trials;
    const place = section("trials");
    if (!found) {
      leaveOut("trials", "Left out: the price was given, so that nothing had to be tried.");
      return;
    }
    const names = ["prior", "learned from", "strength", "columns", "prior's share", "score", "gain", ""];
    const right = [2, 3, 4, 5, 6];
    const table = make("table", {}, make("caption", { class: "unseen" }, "What was tried, the best first"),
      make("thead", {}, make("tr", {}, ...names.map((name, k) => make("th", { scope: "col", class: right.includes(k) ? "number" : null }, name)))));
    const body = make("tbody");
    const tenths = (share) => (100 * share).toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "−");
    const withError = (pair, plus) => (pair ? `${plus && pair[0] > 0 ? "+" : ""}${tenths(pair[0])}${pair[1] === null ? "" : ` ± ${(100 * pair[1]).toFixed(1)}`}` : "–");
    for (const row of found.rows) {
      const cells = [row.prior.replace(/_/g, " "), row.statements || "nothing", row.strength === null ? "–" : number(row.strength),
        row.columns === null ? "all" : String(row.columns), row.prior_share ? percent(row.prior_share, 0) : "–", withError(row.score), row.is_plain ? "–" : withError(row.gain, true),
        [row.is_chosen ? "chosen" : "", row.is_plain ? "plain distance" : ""].filter(Boolean).join(", ")];
      body.append(make("tr", { class: row.is_chosen ? "chosen-row" : null }, ...cells.map((cell, k) => make("td", { class: right.includes(k) ? "number" : null }, cell))));
    }
    table.append(body);
    place.append(
      note(found.is_judged
        ? "Scores, in percent with their standard errors, are of what was held back. The best of many scores too well; the verdict corrects for that."
        : "Nothing was judged: too little is known to hold back some of it."),
      make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "What was tried" }, table));
  })();

  // ---- colors of the moment

  const recolor = () => redraws.forEach((redraw) => redraw());
  dark.addEventListener("change", recolor);
  const unfold = (open) => document.querySelectorAll("details").forEach((part) => { part.open = open; });
  window.addEventListener("beforeprint", () => { printing = true; recolor(); unfold(true); });
  window.addEventListener("afterprint", () => { printing = false; recolor(); unfold(false); });
  requestAnimationFrame(recolor);
  document.documentElement.dataset.ready = "yes";
})();
