/** An archive that was dropped before its website existed. The page of the website uploads it. */
import { signal } from '@preact/signals'

export const waitingArchive = signal<{ readonly siteId: string; readonly file: File } | undefined>(undefined)
