/** Preferences stored in this browser: theme, language, shortcuts and layout. */
import { signal } from '@preact/signals'
import { languages, type Language } from '../texts/language.ts'

export type Theme = 'system' | 'light' | 'dark'

const stored = (name: string): string | null => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

const keep = (name: string, value: string): void => {
  try {
    localStorage.setItem(name, value)
  } catch {
    // private windows may forbid storage: the choice then lasts until the page closes
  }
}

export const theme = signal<Theme>((stored('theme') as Theme | null) ?? 'system')
export const shortcuts = signal(stored('shortcuts') !== 'off')
export const rail = signal(stored('rail') === 'on')

/** Remapped keys: the pressed key by its default key. */
export type KeyMap = Readonly<Record<string, string>>

function storedKeys(): KeyMap {
  try {
    const map: unknown = JSON.parse(stored('keys') ?? '{}')
    const pairs = typeof map === 'object' && map !== null ? Object.entries(map as Record<string, unknown>) : []
    return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
  } catch {
    return {}
  }
}

export const keyMap = signal<KeyMap>(storedKeys())

const prefersDark = matchMedia('(prefers-color-scheme: dark)')

const applyTheme = (): void => {
  const isDark = theme.value === 'dark' || (theme.value === 'system' && prefersDark.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
}

export function followTheme(): void {
  applyTheme()
  prefersDark.addEventListener('change', applyTheme)
}

export function setTheme(next: Theme): void {
  theme.value = next
  keep('theme', next)
  applyTheme()
}

export function setShortcuts(on: boolean): void {
  shortcuts.value = on
  keep('shortcuts', on ? 'on' : 'off')
}

/** Remaps a key. The default key removes the mapping. */
export function setKey(key: string, pressed: string): void {
  const { [key]: _, ...others } = keyMap.value
  keyMap.value = pressed === key ? others : { ...others, [key]: pressed }
  keep('keys', JSON.stringify(keyMap.value))
}

export function resetKeys(): void {
  keyMap.value = {}
  keep('keys', '{}')
}

export function setRail(on: boolean): void {
  rail.value = on
  keep('rail', on ? 'on' : 'off')
}

/** Returns the chosen language, else the first supported language of the browser. */
export function preferredLanguage(): Language {
  const wanted = [stored('language'), ...navigator.languages].map((one) => one?.slice(0, 2).toLowerCase())
  return languages.find((language) => language === wanted.find((one) => languages.some((each) => each === one))) ?? 'en'
}

/** Stores the language. The cookie carries it to server-rendered pages and contains nothing else. */
export const keepLanguage = (language: Language): void => {
  keep('language', language)
  document.cookie = `postern_language=${language}; Path=/; Max-Age=31536000; SameSite=Lax`
}
