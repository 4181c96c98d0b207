/** Texts in the current language. The catalog of a screen loads together with its code. */
import { batch, signal } from '@preact/signals'
import type { Catalogs } from '../../../catalogs/dashboard/dashboard-catalogs.ts'
import { language, type Language } from './language.ts'

type Load = (language: Language) => Promise<{ readonly default: unknown }>

/** Loads the messages of a catalog in a language. Returns a function that displays them. */
type Fetch = (wanted: Language) => Promise<() => void>

const catalogs = new Set<Fetch>()
const loading = new Set<Promise<void>>()

/** Returns the texts of a catalog in the current language; see `loaded`. */
export const catalog = <Name extends keyof Catalogs>(name: Name, load: Load, english?: Catalogs[Name]): (() => Catalogs[Name]) =>
  loaded(name, load, english)

/**
 * Returns texts in the current language. Without `english`, components may use them only after `withTexts` has resolved. Falls back to
 * English if a language fails to load.
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
    first.catch(() => undefined) // `withTexts` reports it
  }
  return () => {
    if (!shown.value) throw new Error(`Catalog ${name} is not loaded: await withTexts() first`)
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

/** Resolves with the code after its texts have loaded. */
export async function withTexts<Code>(code: Promise<Code>): Promise<Code> {
  const all = await code
  await Promise.all(loading)
  return all
}

/** Switches all loaded texts to another language in one update. */
export async function speak(next: Language): Promise<void> {
  const shows = await Promise.all([...catalogs].map((fetch) => fetch(next)))
  batch(() => {
    language.value = next
    for (const show of shows) show()
  })
  document.documentElement.lang = next
}
