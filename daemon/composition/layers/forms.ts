/** Forms: their design, and what comes in by them. */
import { formsUrl } from '#config/settings/load.ts'
import { FormDrafts } from '#core/forms/drafts.ts'
import { Forms } from '#core/forms/forms.ts'
import { Publishing } from '#core/forms/publishing.ts'
import { SubmissionExports } from '#core/forms/submissions/export.ts'
import { PublicForms } from '#core/forms/submissions/public-forms.ts'
import { Submissions } from '#core/forms/submissions/submissions.ts'
import { SubmitForms } from '#core/forms/submissions/submit.ts'
import { FormThanks } from '#core/forms/submissions/thanks.ts'
import type { Add } from '../parts.ts'

export function addForms(add: Add): void {
  add('forms', ({ get, config }) => {
    const core = get('core')
    const publicForms = new PublicForms(core)
    const ownOrigin = new URL(formsUrl(config, config.http.listen)).origin
    return {
      forms: new Forms(core),
      drafts: new FormDrafts(core),
      publishing: new Publishing(core),
      publicForms,
      submit: new SubmitForms({ ...get('publishable').captcha, ...core, publicForms, ownOrigin }),
      thanks: new FormThanks(core, publicForms),
      submissions: new Submissions(core),
      exports: new SubmissionExports(core),
    }
  })
}
