/** Publishable keys: bearer tokens that stand in web pages, and what each of them may send. Spec "Publishable key". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { captchaProviders, type CaptchaOwner } from '../visitors/captcha.ts'

export const ratePresets = ['normal', 'loose', 'strict'] as const
export type RatePreset = (typeof ratePresets)[number]

/** Sends that are taken in a sliding window; 0 is no limit. */
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
  /** Names the one token that works; another one with every rotation. */
  tokenId: z.string(),
  /** For people: the beginning and the last four characters of the token. */
  preview: z.string(),
  /** As browsers write them. */
  allowedOrigins: z.array(z.string()),
  /** `user@host`, or `@host` for everybody there; folded. */
  allowedTo: z.array(z.string()),
  /** The one sender, with or without a display name. */
  lockedFrom: z.string(),
  ratePreset: z.enum(ratePresets),
  /** In place of those of the preset. */
  rates: z.strictObject({ perIpHour: rate, perRecipientHour: rate, perKeyHour: rate, perKeyDay: rate }) as z.ZodType<Partial<Rates>>,
  captcha: z.strictObject({ provider: z.enum(captchaProviders), sealedSecret: z.string(), siteKey: z.string().nullable() }).nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
  revokedAt: z.int().nullable(),
})

export type PublishableKey = Immutable<z.infer<typeof schema>>

/** Whether a token of the key is the one that works. */
export const works = ({ tokenId, revokedAt }: PublishableKey, token: string | undefined): boolean => token === tokenId && revokedAt === null

export const publishableKeys = defineRecord<PublishableKey>({
  name: 'publishable_key',
  schema,
  isSetting: true,
  isTracked: true,
  lookups: { token: (key) => [[key.tokenId]] },
  projectOf: (key) => key.projectId,
})

/** Where the secret of the captcha provider is sealed for. */
export const captchaContext = (keyId: string): string => `publishable_key/${keyId}/captcha_secret`

/** Spec "Authentication" 6.4: normal, twice as much, and three tenths. */
const presets: Readonly<Record<RatePreset, Rates>> = {
  normal: { perIpHour: 10, perRecipientHour: 30, perKeyHour: 300, perKeyDay: 1000 },
  loose: { perIpHour: 20, perRecipientHour: 60, perKeyHour: 600, perKeyDay: 2000 },
  strict: { perIpHour: 3, perRecipientHour: 9, perKeyHour: 90, perKeyDay: 300 },
}

/** The numbers that hold for a key. */
export const ratesOf = ({ ratePreset, rates }: Pick<PublishableKey, 'ratePreset' | 'rates'>): Rates => ({
  ...presets[ratePreset],
  ...rates,
})

/** As it asks visitors for a captcha. */
export const captchaOwnerOf = ({ id, captcha }: Pick<PublishableKey, 'id' | 'captcha'>): CaptchaOwner => ({
  ...{ id, captcha, noun: 'key' },
  place: captchaContext(id),
})
