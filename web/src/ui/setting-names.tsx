// A sentence that mentions settings. Their names are marked, so that they can be copied exactly.

const NAME = /([A-Z]+(?:_[A-Z]+)+(?:=\S+)?)/;

export function SettingNames({ text }: { text: string }) {
  return text.split(NAME).map((part, index) => (NAME.test(part) ? <code key={index}>{part}</code> : part));
}
