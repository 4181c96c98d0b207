/** The words of the dashboard in the chosen language; each language is loaded when it is wanted. */
import { signal } from '@preact/signals'
import { en } from './en.ts'
import type { Words } from './entries.ts'
import { language, type Language } from './language.ts'

const current = signal<Words>(en)

/** The words to show now. */
export const words = (): Words => current.value

/** The words of a part of the dashboard that brings its own in every language. */
export const inLanguages =
  <T>(all: Readonly<Record<Language, T>>) =>
  (): T =>
    all[language.value]

const load: Readonly<Record<Language, () => Promise<Words>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import('./de.ts')).de,
  fr: async () => (await import('./fr.ts')).fr,
  it: async () => (await import('./it.ts')).it,
}

export async function speak(next: Language): Promise<void> {
  current.value = await load[next]()
  language.value = next
  document.documentElement.lang = next
}
