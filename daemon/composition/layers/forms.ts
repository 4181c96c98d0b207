/** Forms: their design, and what comes in by them. */
import { FormDrafts } from '#core/forms/drafts.ts'
import { Forms } from '#core/forms/forms.ts'
import { Publishing } from '#core/forms/publishing.ts'
import type { Add } from '../parts.ts'

export function addForms(add: Add): void {
  add('forms', ({ get }) => {
    const core = get('core')
    return { forms: new Forms(core), drafts: new FormDrafts(core), publishing: new Publishing(core) }
  })
}
