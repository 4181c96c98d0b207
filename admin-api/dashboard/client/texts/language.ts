/** The current language. A separate module, because number and time formats depend on it and the texts depend on these formats. */
import { signal } from '@preact/signals'

export const languages = ['en', 'de', 'fr', 'it'] as const
export type Language = (typeof languages)[number]

export const language = signal<Language>('en')

/** Colon after a label. French has a non-breaking space before it. */
export const colon = (): string => (language.value === 'fr' ? '\u00a0:' : ':')
