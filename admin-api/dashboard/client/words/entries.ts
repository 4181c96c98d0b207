/** The entries that every language has, with the same parameters: those of English. */
import type { en } from './en.ts'
import type { insights } from '../insights/words.en.ts'
import type { screens } from './screens.en.ts'
import type { settings } from './settings.en.ts'

/** Those of English, with any text in their place. */
export type Wider<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : T[K] extends (...given: infer P) => string ? (...given: P) => string : Wider<T[K]>
}

export type Words = Wider<typeof en>
export type SettingsWords = Wider<typeof settings>
export type InsightWords = Wider<typeof insights>
export type ScreenWords = Wider<typeof screens>
