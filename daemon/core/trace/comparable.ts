/** Normalizes text for comparison: ignores case and the composition of accents (Unicode UAX #15). */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase()
