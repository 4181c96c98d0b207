/** Record of a publishable key: a bearer token for web pages, with restrictions of its mail. Spec "Publishable key". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { captchaProviders, type CaptchaOwner } from '../visitors/captcha.ts'

export const ratePresets = ['normal', 'loose', 'strict'] as const
export type RatePreset = (typeof ratePresets)[number]

/** Maximum sends in a sliding window; 0 for no limit. */
export interface Rates {
  readonly perIpHour: number
  readonly perRecipientHour: number
  readonly perKeyHour: number
  readonly perKeyDay: number
}

const rate = z.int().min(0).optional()

const schema = z.strictObject({
  id: z.string(),
  name: z.string(),
  projectId: z.string(),
  /** Id of the only valid token; every rotation changes it. */
  tokenId: z.string(),
  /** First and last four characters of the token, for people. */
  preview: z.string(),
  /** In the form that browsers send. */
  allowedOrigins: z.array(z.string()),
  /** `user@host`, or `@host` for all mailboxes of the domain; folded. */
  allowedTo: z.array(z.string()),
  /** The only sender, optionally with a display name. */
  lockedFrom: z.string(),
  ratePreset: z.enum(ratePresets),
  /** Override the rates of the preset. */
  rates: z.strictObject({ perIpHour: rate, perRecipientHour: rate, perKeyHour: rate, perKeyDay: rate }) as z.ZodType<Partial<Rates>>,
  captcha: z.strictObject({ provider: z.enum(captchaProviders), sealedSecret: z.string(), siteKey: z.string().nullable() }).nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
  revokedAt: z.int().nullable(),
})

export type PublishableKey = Immutable<z.infer<typeof schema>>

/** Returns whether this is the valid token of an active key. */
export const works = ({ tokenId, revokedAt }: PublishableKey, token: string | undefined): boolean => token === tokenId && revokedAt === null

export const publishableKeys = defineRecord<PublishableKey>({
  name: 'publishable_key',
  schema,
  isSetting: true,
  isTracked: true,
  lookups: { token: (key) => [[key.tokenId]] },
  projectOf: (key) => key.projectId,
})

/** Returns the context for sealing the secret of the captcha provider. */
export const captchaContext = (keyId: string): string => `publishable_key/${keyId}/captcha_secret`

/** Spec "Authentication" 6.4: normal, twice as much, and three tenths. */
const presets: Readonly<Record<RatePreset, Rates>> = {
  normal: { perIpHour: 10, perRecipientHour: 30, perKeyHour: 300, perKeyDay: 1000 },
  loose: { perIpHour: 20, perRecipientHour: 60, perKeyHour: 600, perKeyDay: 2000 },
  strict: { perIpHour: 3, perRecipientHour: 9, perKeyHour: 90, perKeyDay: 300 },
}

/** Returns the effective rates of a key. */
export const ratesOf = ({ ratePreset, rates }: Pick<PublishableKey, 'ratePreset' | 'rates'>): Rates => ({
  ...presets[ratePreset],
  ...rates,
})

/** Returns the key in the form that the captcha check requires. */
export const captchaOwnerOf = ({ id, captcha }: Pick<PublishableKey, 'id' | 'captcha'>): CaptchaOwner => ({
  ...{ id, captcha, noun: 'key' },
  place: captchaContext(id),
})
