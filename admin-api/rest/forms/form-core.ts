/** What the operations of forms need of the core. */
import type { FormDrafts } from '#core/forms/drafts.ts'
import type { Forms } from '#core/forms/forms.ts'
import type { Publishing } from '#core/forms/publishing.ts'

export interface FormCore {
  readonly forms: Forms
  readonly drafts: FormDrafts
  readonly publishing: Publishing
}
