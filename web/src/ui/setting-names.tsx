// A sentence that mentions settings: their names set apart, to be copied as they are.

const NAME = /([A-Z]+(?:_[A-Z]+)+(?:=\S+)?)/;

export function SettingNames({ text }: { text: string }) {
  return text.split(NAME).map((part, index) => (NAME.test(part) ? <code key={index}>{part}</code> : part));
}
