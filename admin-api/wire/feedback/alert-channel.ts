/** Alert channels on the wire. Targets are only written, never shown. */
import * as z from 'zod'
import { alertLanguages, channelKinds, targetKinds, type AlertChannel } from '#core/alerts/channels/alert-channel.ts'
import type { ChannelTestResult } from '#core/alerts/channels/channel-tests.ts'
import type { ChannelWithSecret } from '#core/alerts/channels/channels.ts'
import { findingGroups } from '#core/findings/kinds.ts'
import { encoder } from '../fields/codec.ts'
import { hmacSecret, id, nameLine } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

const minuteOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 22:00')
  .meta({ description: 'A time of day, such as `22:00`.' })

const quietHours = z
  .strictObject({
    from: minuteOfDay,
    to: minuteOfDay,
    zone: z.string().max(64).meta({ description: 'IANA name, such as `Europe/Zurich`.' }),
  })
  .nullable()
  .meta({ description: 'Warnings wait until these hours end; errors are sent at once.' })

const settings = {
  name: nameLine(100),
  language: z.enum(alertLanguages).meta({ description: 'Texts without a translation are in English.' }),
  min_severity: z.enum(['error', 'warning']),
  groups: z.array(z.enum(findingGroups)).max(findingGroups.length).meta({ description: 'Empty means all.' }),
  after_minutes: z
    .int()
    .min(0)
    .max(1440)
    .meta({ description: 'Above 0, the channel gets only errors that were not acknowledged within this time.' }),
  quiet_hours: quietHours,
  enabled: z.boolean(),
}

const shownTest = z
  .object({
    at: wireTime,
    delivered: z.boolean(),
    status_code: z.int().nullable().meta({ description: 'Null without a response, and for mail.' }),
  })
  .meta({ id: 'AlertChannelTest' })

const channelFields = {
  id: z.string(),
  project_id: z.string().nullable().meta({ description: 'Null for findings of the whole organization.' }),
  kind: z.enum(channelKinds).meta({ description: '`members`: mail to the owners and admins, which exists without setup.' }),
  shown: z.string().meta({ description: 'The target without its secret part.' }),
  ...settings,
  confirmed_at: wireTime.nullable().meta({ description: 'When the recipient of a `mail` channel agreed. It gets nothing before.' }),
  last_test: shownTest.nullable(),
  created_at: wireTime.nullable().meta({ description: 'Null for `members` until it is changed.' }),
  updated_at: wireTime.nullable(),
}

const channelShape = z.object(channelFields).meta({ id: 'AlertChannel' })
const channelWithSecretShape = z
  .object({
    ...channelFields,
    hmac_secret: hmacSecret.nullable().meta({ description: 'Signs the requests of a `webhook` channel. Null for other kinds.' }),
  })
  .meta({ id: 'SavedAlertChannel' })

const text = (max: number) => z.string().min(1).max(max).optional()
const target = z
  .strictObject({
    address: text(320).meta({ description: 'For `mail`.' }),
    url: text(2048).meta({ description: 'For `slack`, `discord`, `teams` and `webhook`; for `ntfy` and `telegram` your own server.' }),
    bot_token: text(200).meta({ description: 'For `telegram`.' }),
    chat_id: text(100).meta({ description: 'For `telegram`.' }),
    topic: text(64).meta({ description: 'For `ntfy`.' }),
    token: text(200).meta({ description: 'For `ntfy`, if the topic requires an access token.' }),
  })
  .meta({ id: 'AlertTarget', description: 'Only the fields of the kind. Never shown again.' })

const times = (value: { from: string; to: string; zone: string } | null) =>
  value && { from: minutesOf(value.from), to: minutesOf(value.to), zone: value.zone }
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const timeOf = (minutes: number): string => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
const two = (value: number): string => String(value).padStart(2, '0')

export const newAlertChannel = z.strictObject({
  ...{ kind: z.enum(targetKinds), name: settings.name, target },
  language: settings.language.default('en'),
  min_severity: settings.min_severity.default('warning'),
  groups: settings.groups.default([]),
  after_minutes: settings.after_minutes.default(0),
  quiet_hours: quietHours.default(null),
  enabled: settings.enabled.default(true),
  project_id: id.optional().meta({ description: 'Omit it for findings of the whole organization.' }),
})
export const alertChannelChanges = z.strictObject({ ...settings, target }).partial()

/** Times of day in the form of the core. */
export const toQuietHours = times

const channelCode = {
  project_id: ({ projectId }: AlertChannel) => (projectId === '' ? null : projectId),
  groups: ({ groups }: AlertChannel) => [...groups],
  quiet_hours: ({ quietHours: hours }: AlertChannel) => hours && { from: timeOf(hours.from), to: timeOf(hours.to), zone: hours.zone },
  enabled: ({ isOn }: AlertChannel) => isOn,
  last_test: ({ lastTest }: AlertChannel) =>
    lastTest && { at: orNull(lastTest.at) ?? '', delivered: lastTest.isGood, status_code: lastTest.status },
  created_at: ({ createdAt }: AlertChannel) => orNull(createdAt || null),
  updated_at: ({ updatedAt }: AlertChannel) => orNull(updatedAt || null),
}
export const alertChannel = encoder(channelShape).from<AlertChannel>(channelCode)
export const alertChannelWithSecret = encoder(channelWithSecretShape)
  .from<AlertChannel & { readonly hmacSecret: string | null }>(channelCode)
  .via(({ channel, secret }: ChannelWithSecret) => ({ ...channel, hmacSecret: secret }))

const testResultShape = z
  .object({
    delivered: z.boolean().meta({ description: 'The receiver accepted the alert; a mail was queued.' }),
    latency_ms: z.int(),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    response_body: z.string().nullable().meta({ description: 'The first 4 KiB, as text, without secrets of the target.' }),
  })
  .meta({ id: 'AlertChannelTestResult' })

export const alertChannelTest = encoder(testResultShape).from<ChannelTestResult>({
  delivered: ({ isGood }) => isGood,
  latency_ms: ({ milliseconds }) => milliseconds,
  response_body: ({ answer }) => answer,
})
