/** Words in the chosen language. Each screen brings its catalog along, which is loaded with the code of the screen. */
import { batch, signal } from '@preact/signals'
import type { Catalogs } from '../../../catalogs/dashboard/dashboard-catalogs.ts'
import { language, type Language } from './language.ts'

type Load = (language: Language) => Promise<{ readonly default: unknown }>

/** Loads the messages of a catalog in a language and returns what shows them. */
type Fetch = (wanted: Language) => Promise<() => void>

const catalogs = new Set<Fetch>()
const loading = new Set<Promise<void>>()

/** Returns the words of a catalog in the chosen language; see `loaded`. */
export const catalog = <Name extends keyof Catalogs>(name: Name, load: Load, english?: Catalogs[Name]): (() => Catalogs[Name]) =>
  loaded(name, load, english)

/**
 * Returns texts in the chosen language. Unless English is given, components may use them after `withWords` has waited for them. A language
 * that cannot be loaded is shown in English.
 */
export function loaded<Texts extends object>(name: string, load: Load, english?: Texts): () => Texts {
  const shown = signal(english)
  const fetch: Fetch = async (wanted) => {
    const get = async (one: Language) => load(one)
    const { default: messages } = await get(wanted).catch(() => get('en'))
    return () => void (shown.value = messages as Texts)
  }
  catalogs.add(fetch)
  if (!english) {
    const first = showFirst(fetch).finally(() => loading.delete(first))
    loading.add(first)
    first.catch(() => undefined) // reported by `withWords`
  }
  return () => {
    if (!shown.value) throw new Error(`Catalog ${name} is not loaded: await withWords() first`)
    return shown.value
  }
}

async function showFirst(fetch: Fetch): Promise<void> {
  let wanted: Language
  let show: () => void
  do {
    wanted = language.value
    show = await fetch(wanted)
  } while (wanted !== language.value)
  show()
}

/** Resolves with the code once its words are loaded too. */
export async function withWords<Code>(code: Promise<Code>): Promise<Code> {
  const all = await code
  await Promise.all(loading)
  return all
}

/** Switches all words that are loaded to another language, at once. */
export async function speak(next: Language): Promise<void> {
  const shows = await Promise.all([...catalogs].map((fetch) => fetch(next)))
  batch(() => {
    language.value = next
    for (const show of shows) show()
  })
  document.documentElement.lang = next
}
