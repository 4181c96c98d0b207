/** An archive that was dropped before its website was there: the page of the site sends it. */
import { signal } from '@preact/signals'

export const waitingArchive = signal<{ readonly siteId: string; readonly file: File } | undefined>(undefined)
