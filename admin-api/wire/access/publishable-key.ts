/** Publishable keys on the wire. Spec "Publishable key". */
import * as z from 'zod'
import { ratePresets, ratesOf, type PublishableKey, type Rates } from '#core/publishable/publishable-key.ts'
import type { PublishableKeyWithToken, RevealablePublishableKey } from '#core/publishable/publishable-keys.ts'
import { fieldTypes, snippetStyles } from '#core/publishable/snippet.ts'
import type { Snippet } from '#core/publishable/snippets.ts'
import { captchaProviders } from '#core/visitors/captcha.ts'
import { decoder, encoder } from '../fields/codec.ts'
import { filledLine, id, line, nullAsAbsent } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

const maxEntries = 50
const maxRate = 1_000_000

const rate = z.int().min(0).max(maxRate)
const rates = { per_ip_hour: rate, per_recipient_hour: rate, per_key_hour: rate, per_key_day: rate }
const readRates = decoder(z.strictObject(rates).partial())
/** Removes undefined entries; the core expects only numbers. */
const withoutGaps = (given: object): object => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
const ratesShape = z.object(rates).meta({ description: 'The effective limits on sends in sliding windows; 0 means no limit.' })

const fields = {
  id: z.string(),
  name: z.string(),
  project_id: z.string(),
  key_preview: z.string().meta({ description: 'The first and the last four characters of the token.' }),
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

const publishableKeyShape = z.object(fields).meta({ id: 'PublishableKey' })

const publishableKeyWithTokenShape = z
  .object({
    ...fields,
    raw_token: z.string().optional().meta({ description: 'The token itself. Shown only once; absent with `reveal`.' }),
    reveal_url: z.url().optional().meta({ description: 'With `reveal`: a link that shows the token once. Pass it on without opening it.' }),
    reveal_expires_in_seconds: z.int().optional(),
  })
  .meta({ id: 'MintedPublishableKey' })

const reveal = z
  .boolean()
  .default(false)
  .meta({ description: 'Returns, instead of the token, a link that shows it once. For agents, which must not see tokens.' })

export const newPublishableKey = z.strictObject({
  name: line(100, 'A label that states where the key is used.').default(''),
  allowed_origins: z
    .array(z.string().max(300))
    .min(1)
    .max(maxEntries)
    .meta({ description: 'Origins of the pages that can use the key: https, or http on localhost.' }),
  allowed_to: z
    .array(z.string().max(320))
    .min(1)
    .max(maxEntries)
    .meta({ description: 'Recipients allowed in to, cc and bcc: user@host, or @host for every address of a domain.' }),
  locked_from: filledLine(600, 'The only allowed sender. Put the address of a visitor into reply_to.'),
  rate_preset: z
    .enum(ratePresets)
    .default('normal')
    .meta({
      description:
        'normal: per hour, 10 sends from one IP address, 30 to one recipient and 300 in total, and 1000 per day. loose: twice ' +
        'these limits. strict: 30 % of these limits.',
    }),
  rates: z
    .strictObject(rates)
    .partial()
    .optional()
    .transform((given = {}): Partial<Rates> => withoutGaps(readRates(given)))
    .meta({ description: 'Limits that replace those of the preset; 0 means no limit.' }),
  captcha_provider: nullAsAbsent(z.enum(captchaProviders)),
  captcha_secret: filledLine(500, 'Stored encrypted and never shown.').optional(),
  captcha_site_key: nullAsAbsent(filledLine(200, 'Site key for the captcha on pages. Required for snippets.')),
  project_id: id.optional(),
  reveal,
})

const reason = filledLine(500, 'Recorded in the audit log.').optional()
export const rotation = z.strictObject({ reason, reveal })

export const revocation = z.strictObject({ reason })

export const newSnippet = z.strictObject({
  reveal_url: z.string().max(500).meta({ description: 'Reveal link of a new or rotated key. It works once.' }),
  to_address: z.string().max(320),
  from_address: z.string().max(600).meta({ description: 'The sender of the key.' }),
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
    .meta({ description: 'Defaults to name, email and message. The first field of type email becomes reply_to.' }),
  template_style: z.enum(snippetStyles).default('minimal'),
})

const snippetShape = z
  .object({
    html: z.string().meta({ description: 'HTML to paste into a page. The token in it is public by design.' }),
    allowed_origins: z.array(z.string()).meta({ description: 'Origins of the pages that can use the snippet.' }),
  })
  .meta({ id: 'HtmlSnippet' })

const keyRates = encoder(ratesShape).from<Rates>()
const keyCode = {
  key_preview: ({ preview }: PublishableKey) => preview,
  status: ({ revokedAt }: PublishableKey) => (revokedAt === null ? 'active' : 'revoked'),
  rates: (key: PublishableKey) => keyRates.encode(ratesOf(key)),
  captcha_provider: ({ captcha }: PublishableKey) => captcha?.provider ?? null,
  captcha_site_key: ({ captcha }: PublishableKey) => captcha?.siteKey ?? null,
} as const

export const publishableKey = encoder(publishableKeyShape).from<PublishableKey>(keyCode)

interface Shown {
  readonly rawToken?: string
  readonly revealUrl?: string
  readonly revealExpiresInSeconds?: number
}
export const publishableKeyWithToken = encoder(publishableKeyWithTokenShape)
  .from<PublishableKey & Shown>(keyCode)
  .via((created: PublishableKeyWithToken | RevealablePublishableKey) => ({
    ...created.record,
    ...('token' in created
      ? { rawToken: created.token }
      : { revealUrl: created.link.url, revealExpiresInSeconds: created.link.expiresInSeconds }),
  }))

export const snippet = encoder(snippetShape).from<Snippet>()
