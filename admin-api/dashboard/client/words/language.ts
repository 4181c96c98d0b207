/** The chosen language, alone, so that what formats numbers and times can stand below the words that contain them. */
import { signal } from '@preact/signals'

export const languages = ['en', 'de', 'fr', 'it'] as const
export type Language = (typeof languages)[number]

export const language = signal<Language>('en')

/** After a label; French sets a space before it, at which no line breaks. */
export const colon = (): string => (language.value === 'fr' ? '\u00a0:' : ':')
