/** Publishable keys on the wire. Spec "Publishable key". */
import * as z from 'zod'
import { captchaProviders, ratePresets, ratesOf, type PublishableKey, type Rates } from '#core/publishable/publishable-key.ts'
import type { MintedPublishableKey, RevealablePublishableKey } from '#core/publishable/publishable-keys.ts'
import type { NewPublishableKey } from '#core/publishable/requests.ts'
import { fieldTypes, snippetStyles } from '#core/publishable/snippet.ts'
import type { SnippetRequest } from '#core/publishable/snippets.ts'
import { filledLine, id, line } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const entriesMax = 50
const rateMax = 1_000_000

const rate = z.int().min(0).max(rateMax)
const rates = { per_ip_hour: rate, per_recipient_hour: rate, per_key_hour: rate, per_key_day: rate }
const ratesShape = z.object(rates).meta({ description: 'Sends in sliding windows, as they hold; 0 is no limit.' })

const fields = {
  id: z.string(),
  name: z.string(),
  project_id: z.string(),
  key_preview: z.string().meta({ description: 'The beginning and the last four characters of the token.' }),
  status: z.enum(['active', 'revoked']),
  allowed_origins: z.array(z.string()),
  allowed_to: z.array(z.string()),
  locked_from: z.string(),
  rate_preset: z.enum(ratePresets),
  rates: ratesShape,
  captcha_provider: z.enum(captchaProviders).nullable(),
  captcha_site_key: z.string().nullable(),
  created_at: wireTime,
  updated_at: wireTime,
  revoked_at: wireTime.nullable(),
}

export const publishableKeyShape = z.object(fields).meta({ id: 'PublishableKey' })

export const mintedPublishableKeyShape = z
  .object({
    ...fields,
    raw_token: z.string().optional().meta({ description: 'The token itself, shown this once; not with reveal.' }),
    reveal_url: z.url().optional().meta({ description: 'With reveal: shows the token once. Pass it on; do not open it.' }),
    reveal_expires_in_seconds: z.int().optional(),
  })
  .meta({ id: 'MintedPublishableKey' })

const reveal = z
  .boolean()
  .default(false)
  .meta({ description: 'Answers with a link that shows the token once, in place of the token: for agents, which must not see it.' })

export const newPublishableKeyBody = z.strictObject({
  name: line(100, 'For people: where the key is used.').default(''),
  allowed_origins: z
    .array(z.string().max(300))
    .min(1)
    .max(entriesMax)
    .meta({ description: 'Origins of the pages: https, or http on localhost.' }),
  allowed_to: z
    .array(z.string().max(320))
    .min(1)
    .max(entriesMax)
    .meta({ description: 'Who may be written to in to, cc and bcc: user@host, or @host for everybody there.' }),
  locked_from: filledLine(600, 'The one sender. The address of a visitor goes into reply_to.'),
  rate_preset: z.enum(ratePresets).default('normal').meta({
    description: 'normal: 10 an hour from one address, 30 to one recipient, 300 in all, 1000 a day; loose: twice; strict: three tenths.',
  }),
  rates: z.strictObject(rates).partial().optional().meta({ description: 'Numbers in place of those of the preset; 0 is no limit.' }),
  captcha_provider: z.enum(captchaProviders).nullable().optional(),
  captcha_secret: filledLine(500, 'Kept encrypted and never shown.').optional(),
  captcha_site_key: filledLine(200, 'What pages show the captcha by; needed for snippets.').nullable().optional(),
  project_id: id.optional(),
  reveal,
})

export const rotatePublishableKeyBody = z.strictObject({ reason: filledLine(500, 'For the audit log.').optional(), reveal }).prefault({})

export const revokePublishableKeyQuery = z.strictObject({ reason: filledLine(500, 'For the audit log.').optional() })

export const snippetBody = z.strictObject({
  reveal_url: z.string().max(500).meta({ description: 'Of a key that was just minted or rotated; it is used up.' }),
  to_address: z.string().max(320),
  from_address: z.string().max(600).meta({ description: 'That of the key.' }),
  form_fields: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be lower-case letters, digits and underscores'),
        label: filledLine(200),
        type: z.enum(fieldTypes).default('text'),
        required: z.boolean().default(true),
      }),
    )
    .min(1)
    .max(20)
    .optional()
    .meta({ description: 'Name, email and message unless told. The first of type email becomes reply_to.' }),
  template_style: z.enum(snippetStyles).default('minimal'),
})

export const snippetShape = z
  .object({
    html: z.string().meta({ description: 'To paste into a page. The token in it is public by design.' }),
    allowed_origins: z.array(z.string()).meta({ description: 'The pages on which it works.' }),
  })
  .meta({ id: 'HtmlSnippet' })

export const toNewPublishableKey = (body: z.output<typeof newPublishableKeyBody>): NewPublishableKey => ({
  name: body.name,
  allowedOrigins: body.allowed_origins,
  allowedTo: body.allowed_to,
  lockedFrom: body.locked_from,
  ratePreset: body.rate_preset,
  rates: toRates(body.rates ?? {}),
  captchaProvider: body.captcha_provider ?? undefined,
  captchaSecret: body.captcha_secret,
  captchaSiteKey: body.captcha_site_key ?? undefined,
  projectId: body.project_id,
})

const toRates = (given: { readonly [Name in keyof typeof rates]?: number | undefined }): Partial<Rates> => ({
  ...(given.per_ip_hour !== undefined && { perIpHour: given.per_ip_hour }),
  ...(given.per_recipient_hour !== undefined && { perRecipientHour: given.per_recipient_hour }),
  ...(given.per_key_hour !== undefined && { perKeyHour: given.per_key_hour }),
  ...(given.per_key_day !== undefined && { perKeyDay: given.per_key_day }),
})

export const toSnippetRequest = (body: z.output<typeof snippetBody>): SnippetRequest => ({
  revealUrl: body.reveal_url,
  toAddress: body.to_address,
  fromAddress: body.from_address,
  formFields: body.form_fields,
  templateStyle: body.template_style,
})

export function toWirePublishableKey(key: PublishableKey): z.input<typeof publishableKeyShape> {
  const { perIpHour, perRecipientHour, perKeyHour, perKeyDay } = ratesOf(key)
  return {
    id: key.id,
    name: key.name,
    project_id: key.projectId,
    key_preview: key.preview,
    status: key.revokedAt === null ? 'active' : 'revoked',
    allowed_origins: [...key.allowedOrigins],
    allowed_to: [...key.allowedTo],
    locked_from: key.lockedFrom,
    rate_preset: key.ratePreset,
    rates: { per_ip_hour: perIpHour, per_recipient_hour: perRecipientHour, per_key_hour: perKeyHour, per_key_day: perKeyDay },
    captcha_provider: key.captcha?.provider ?? null,
    captcha_site_key: key.captcha?.siteKey ?? null,
    created_at: toWireTime(key.createdAt),
    updated_at: toWireTime(key.updatedAt),
    revoked_at: key.revokedAt === null ? null : toWireTime(key.revokedAt),
  }
}

export const toWireMinted = (minted: MintedPublishableKey | RevealablePublishableKey): z.input<typeof mintedPublishableKeyShape> => ({
  ...toWirePublishableKey(minted.record),
  ...('token' in minted
    ? { raw_token: minted.token }
    : { reveal_url: minted.link.url, reveal_expires_in_seconds: minted.link.expiresInSeconds }),
})
