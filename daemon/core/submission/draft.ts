/** The store's draft as the core uses it: what a door writes to, plus what `accept` needs to make it count. */
import type { Draft } from '#store/content.ts'
import type { ContentDraft } from './submission.ts'

export type ContentDraftInStore = ContentDraft & Pick<Draft, 'seal' | 'inMemory'>
