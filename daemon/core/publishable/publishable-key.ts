/** Publishable keys: bearer tokens that stand in web pages, and what each of them may send. Spec "Publishable key". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { captchaProviders, type Asker, type Captcha } from '../visitors/captcha.ts'

export const ratePresets = ['normal', 'loose', 'strict'] as const
export type RatePreset = (typeof ratePresets)[number]

/** Sends that are taken in a sliding window; 0 is no limit. */
export interface Rates {
  readonly perIpHour: number
  readonly perRecipientHour: number
  readonly perKeyHour: number
  readonly perKeyDay: number
}

export interface PublishableKey {
  readonly id: string
  readonly name: string
  readonly projectId: string
  /** Names the one token that works; another one with every rotation. */
  readonly tokenId: string
  /** For people: the beginning and the last four characters of the token. */
  readonly preview: string
  /** As browsers write them. */
  readonly allowedOrigins: readonly string[]
  /** `user@host`, or `@host` for everybody there; folded. */
  readonly allowedTo: readonly string[]
  /** The one sender, with or without a display name. */
  readonly lockedFrom: string
  readonly ratePreset: RatePreset
  /** In place of those of the preset. */
  readonly rates: Partial<Rates>
  readonly captcha: Captcha | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly revokedAt: number | null
}

/** Whether a token of the key is the one that works. */
export const works = ({ tokenId, revokedAt }: PublishableKey, token: string | undefined): boolean => token === tokenId && revokedAt === null

const rate = z.int().min(0).optional()

export const publishableKeys = defineRecord<PublishableKey>({
  name: 'publishable_key',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    projectId: z.string(),
    tokenId: z.string(),
    preview: z.string(),
    allowedOrigins: z.array(z.string()),
    allowedTo: z.array(z.string()),
    lockedFrom: z.string(),
    ratePreset: z.enum(ratePresets),
    rates: z.strictObject({ perIpHour: rate, perRecipientHour: rate, perKeyHour: rate, perKeyDay: rate }) as z.ZodType<Partial<Rates>>,
    captcha: z.strictObject({ provider: z.enum(captchaProviders), sealedSecret: z.string(), siteKey: z.string().nullable() }).nullable(),
    createdAt: z.int(),
    updatedAt: z.int(),
    revokedAt: z.int().nullable(),
  }),
  isSetting: true,
  isTracked: true,
  lookups: { token: (key) => [[key.tokenId]] },
  projectOf: (key) => key.projectId,
})

/** Where the secret of the captcha provider is sealed for. */
export const captchaPlace = (keyId: string): string => `publishable_key/${keyId}/captcha_secret`

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
export const askerOf = ({ id, captcha }: Pick<PublishableKey, 'id' | 'captcha'>): Asker => ({
  ...{ id, captcha, noun: 'key' },
  place: captchaPlace(id),
})
