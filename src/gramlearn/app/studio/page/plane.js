// Points of the plane as they are drawn: scaled to a square, and on their way from one place to another.

const MILLISECONDS = 800;
const MARGIN = 18; // pixels
const still = matchMedia("(prefers-reduced-motion: reduce)");

// To the unit square, with the same scale both ways.
export function toUnitSquare(points) {
  const [xs, ys] = [0, 1].map((k) => points.map((point) => point[k]));
  const range = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const [[left, right], [bottom, top]] = [range(xs), range(ys)];
  const size = Math.max(right - left, top - bottom) || 1, x = (left + right) / 2, y = (bottom + top) / 2;
  return points.map((point) => [0.5 + (point[0] - x) / size, 0.5 - (point[1] - y) / size]);
}

export class Movement {
  constructor(paint) {
    this.paint = paint;
    this.from = this.to = [];
    this.begun = -Infinity;
  }

  get part() {
    const t = Math.min(1, (performance.now() - this.begun) / MILLISECONDS);
    return t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) ** 2;
  }

  // Where point k is at this moment, on a canvas of this size.
  place(k, size, part = this.part) {
    const [a, b] = [this.from[k], this.to[k]], inner = size - 2 * MARGIN;
    return [0, 1].map((m) => MARGIN + inner * (a[m] + part * (b[m] - a[m])));
  }

  go(places, atOnce = false) {
    const part = this.part;
    this.from = atOnce || still.matches ? places : this.to.map((b, k) => [0, 1].map((m) => this.from[k][m] + part * (b[m] - this.from[k][m])));
    this.to = places;
    this.begun = this.from === places ? -Infinity : performance.now();
    this.step();
  }

  step() {
    this.paint();
    if (performance.now() - this.begun < MILLISECONDS + 50) requestAnimationFrame(() => this.step());
  }
}
