/** Published forms as visitors load them, and the response to a submission. Spec "Form", "Public forms". */
import * as z from 'zod'
import type { Taken } from '#core/forms/submissions/submit.ts'
import { referenceOf } from '#core/forms/submissions/submission.ts'
import type { PublicForm } from '#core/forms/submissions/public-forms.ts'
import { encoder, encoderOf } from '../fields/codec.ts'
import { definitionLimits } from '#core/forms/definition/definition.ts'
import { localePattern } from '#core/forms/definition/translations.ts'

const json = z.record(z.string(), z.unknown())
const publicId = z.string().min(1).max(64).meta({ description: 'The `public_id` of a published form.' })

export const publicFormInput = z.strictObject({
  public_id: publicId,
  lang: z.string().max(35).regex(localePattern, 'must be a language such as fr or de-CH').optional().meta({
    description: 'The language of the texts, if the form has it.',
  }),
})
export const progressInput = z.strictObject({
  public_id: publicId,
  fill_time_token: z.string().min(1).max(200).meta({ description: 'The token that was loaded with the form.' }),
  page: z.int().min(1).max(definitionLimits.pages).default(1).meta({ description: 'The page that the visitor has reached, from 1.' }),
})
export const publicFormParams = z.strictObject({ public_id: publicId })

const publicFormShape = z
  .object({
    public_id: z.string(),
    version: z.int(),
    name: z.string(),
    locale: z.string(),
    schema: json.meta({ description: 'Fields, and the layout in rows of 12 columns.' }),
    theme: json,
    logic: json,
    thank_you: json,
    texts: z.object({ submit_label: z.string(), closed_message: z.string() }),
    honeypot_key: z.string().meta({ description: 'A field invisible to people; send it empty.' }),
    fill_time_token: z.string().meta({ description: 'Send it back as `_mnx_ft`, once, within 24 hours.' }),
    captcha: z.object({ provider: z.enum(['turnstile', 'hcaptcha']), site_key: z.string() }).optional(),
    uploads: z.object({ enabled: z.boolean(), max_files: z.int(), max_bytes: z.int() }),
    closed: z.boolean().meta({ description: 'The form no longer accepts submissions; show `texts.closed_message`.' }),
  })
  .meta({ id: 'PublicForm' })

export const publicForm = encoderOf(publicFormShape, (form: PublicForm) => ({
  ...{ public_id: form.publicId, version: form.version, name: form.name, locale: form.locale },
  ...{ schema: { ...form.schema }, theme: { ...form.theme }, logic: { ...form.logic }, thank_you: { ...form.thank_you } },
  ...{ texts: form.texts, honeypot_key: form.honeypotKey, fill_time_token: form.fillTimeToken },
  ...(form.captcha && { captcha: form.captcha }),
  uploads: { enabled: form.uploads.enabled, max_files: form.uploads.maxFiles, max_bytes: form.uploads.maxBytes },
  closed: form.closed,
}))

export const takenShape = z
  .object({
    id: z.string(),
    reference: z.string().meta({ description: 'Name of the submission for the visitor. The owner of the form can search for it.' }),
    message: z.string().meta({ description: 'The thank-you message.' }),
    title: z.string(),
    redirect_url: z.string().nullable().meta({ description: 'URL to continue to after the submission; null for none.' }),
  })
  .meta({ id: 'SubmissionReceipt' })

export const taken = encoder(takenShape).from<Taken>({ reference: referenceOf })

/** For the API document: answers inside `data` or at the top level, with the reserved fields of submissions. */
export const submissionBody = z
  .looseObject({
    data: json.optional().meta({ description: 'Answers by key of the field. They can also be at the top level.' }),
    _mnx_ft: z.string().meta({ description: 'The `fill_time_token` of the definition.' }),
    _mnx_hp: z.string().optional().meta({ description: 'Empty.' }),
    _mnx_sig: z.string().optional().meta({ description: 'The `_sig` parameter of the URL that filled in signed fields.' }),
    captcha_token: z.string().optional().meta({ description: 'Alternative to the header X-Service-Captcha-Token.' }),
  })
  .meta({ id: 'SubmissionBody' })
