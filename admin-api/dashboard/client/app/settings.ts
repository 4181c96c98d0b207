/** What people set for themselves, kept in this browser: light or dark, the language, and whether single keys do something. */
import { signal } from '@preact/signals'
import { languages, type Language } from '../words/language.ts'

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
    // private windows may refuse: the choice then lasts as long as the page
  }
}

export const theme = signal<Theme>((stored('theme') as Theme | null) ?? 'system')
export const shortcuts = signal(stored('shortcuts') !== 'off')
export const rail = signal(stored('rail') === 'on')

/** Single keys that people have chosen others for. */
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

/** Another key in the place of this one; its own takes the choice back. */
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

/** The language that was chosen, else the first of the browser's that there is. */
export function preferredLanguage(): Language {
  const wanted = [stored('language'), ...navigator.languages].map((one) => one?.slice(0, 2).toLowerCase())
  return languages.find((language) => language === wanted.find((one) => languages.some((each) => each === one))) ?? 'en'
}

/** The cookie tells the pages that the server makes; it holds nothing but the language. */
export const keepLanguage = (language: Language): void => {
  keep('language', language)
  document.cookie = `postern_language=${language}; Path=/; Max-Age=31536000; SameSite=Lax`
}
