/** Numbers and times as text. For the first format of a language Node loads the data of all: 20 ms and 8 MiB that no start needs. */

/** A whole number that is not negative, with commas: `50,000`. Loads nothing. */
export const withCommas = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** What is made when it is first asked for, and kept. */
export function atFirstUse<Format extends Intl.DateTimeFormat | Intl.NumberFormat | Intl.Segmenter>(make: () => Format): () => Format {
  let made: Format | undefined
  return () => (made ??= make())
}

/** Makes the words of a language when they are first needed, and keeps them. */
export function wordsByLanguage<Language extends string, Words extends object>(
  make: (language: Language) => Words,
): (language: Language) => Words {
  const made = new Map<Language, Words>()
  return (language) => {
    const words = made.get(language) ?? make(language)
    made.set(language, words)
    return words
  }
}
