// Small pictures of some points, those that were judged first, where the points have pictures.

const SIDE = 26; // pixels
const SHARE = 1 / 6; // of the map, at most

// Places among the rows: judged ones, then others evenly over the rest.
function choose(count, judged, most) {
  const others = [...Array(count).keys()].filter((k) => !judged.has(k)), chosen = [...judged].slice(-most);
  const step = Math.max(1, Math.ceil(others.length / Math.max(1, most - chosen.length)));
  return chosen.length < most ? [...others.filter((_, m) => m % step === 0), ...chosen] : chosen;
}

export class Thumbs {
  constructor(itemOf, whenThere) {
    this.itemOf = itemOf;
    this.whenThere = whenThere;
    this.images = new Map(); // by row
    this.places = [];
  }

  // Whether the points have pictures at all.
  async take(rows, judged, size) {
    if (!rows.length || !(await this.itemOf(rows[0])).image) return false;
    this.places = choose(rows.length, judged, Math.ceil(SHARE * (size / SIDE) ** 2));
    await Promise.all(this.places.map(async (k) => {
      const row = rows[k];
      if (this.images.has(row)) return;
      const { image } = await this.itemOf(row);
      if (!image) return;
      const picture = new Image();
      picture.src = image;
      await picture.decode().then(() => this.images.set(row, picture), () => {});
    }));
    this.whenThere();
    return true;
  }

  paint(context, rows, places, judged, ink, soft) {
    for (const k of this.places) {
      const picture = this.images.get(rows[k]);
      if (!picture) continue;
      const part = SIDE / Math.max(picture.naturalWidth, picture.naturalHeight);
      const [width, height] = [picture.naturalWidth * part, picture.naturalHeight * part];
      const [x, y] = [places[k][0] - width / 2, places[k][1] - height / 2];
      context.imageSmoothingEnabled = part < 1;
      context.drawImage(picture, x, y, width, height);
      context.lineWidth = judged.has(k) ? 2 : 1;
      context.strokeStyle = judged.has(k) ? ink : soft;
      context.strokeRect(x, y, width, height);
    }
  }
}
