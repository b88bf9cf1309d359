// The three kinds of questions: what is asked, which answers there are, and the keys that give them.

const UNSURE = { answer: "unsure", name: "Unsure", sign: "↑", keys: ["ArrowUp"] };

export const KINDS = {
  pair: {
    title: "Alike?",
    places: ["one", "the other"],
    against: null, // cells are compared with each other
    answers: [
      { answer: "unlike", name: "Unlike", sign: "←", keys: ["ArrowLeft", "n"] },
      UNSURE,
      { answer: "alike", name: "Alike", sign: "→", keys: ["ArrowRight", "y"] },
    ],
  },
  triplet: {
    title: "Which is nearer to the first?",
    places: ["first", "second", "third"],
    against: 0, // cells are compared with those of the first
    answers: [
      { answer: "second", name: "Second", sign: "←", keys: ["ArrowLeft", "2"], item: 1 },
      UNSURE,
      { answer: "third", name: "Third", sign: "→", keys: ["ArrowRight", "3"], item: 2 },
    ],
  },
  odd: {
    title: "Odd one out?",
    places: ["first", "second", "third"],
    against: null,
    answers: [
      { answer: "first", name: "First", sign: "←", keys: ["ArrowLeft", "1"], item: 0 },
      { answer: "second", name: "Second", sign: "↓", keys: ["ArrowDown", "2"], item: 1 },
      { answer: "third", name: "Third", sign: "→", keys: ["ArrowRight", "3"], item: 2 },
      UNSURE,
    ],
  },
};

const KEY_NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
export const keyName = (key) => KEY_NAMES[key] || key;
export const nameOfAnswer = (kind, answer) => KINDS[kind].answers.find((choice) => choice.answer === answer).name;
