/** Texts that look the same are the same: in any case, and however accents are composed (Unicode UAX #15). */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase()
