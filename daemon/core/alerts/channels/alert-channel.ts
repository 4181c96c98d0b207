/** A channel: where an organization gets its alerts. The target is sealed, because chat URLs and tokens give access to a chat. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { findingGroups } from '../../findings/kinds.ts'

export const targetKinds = ['mail', 'slack', 'discord', 'teams', 'telegram', 'ntfy', 'webhook'] as const
export type TargetKind = (typeof targetKinds)[number]
/** `members`: mail to the owners and admins, which every organization has without setup. */
export const channelKinds = [...targetKinds, 'members'] as const
export type ChannelKind = (typeof channelKinds)[number]

export const alertLanguages = ['en', 'de', 'fr', 'it'] as const

const schema = z.strictObject({
  id: z.string(),
  /** Empty for alerts of the whole organization. */
  projectId: z.string(),
  kind: z.enum(channelKinds),
  name: z.string(),
  language: z.enum(alertLanguages),
  /** The target as sealed JSON; empty for `members`. */
  sealedTarget: z.string(),
  /** The target without its secret part. */
  shown: z.string(),
  minSeverity: z.enum(['error', 'warning']),
  /** Empty means all. */
  groups: z.array(z.enum(findingGroups)),
  afterMinutes: z.int(),
  quietHours: z.strictObject({ from: z.int(), to: z.int(), zone: z.string() }).nullable(),
  isOn: z.boolean(),
  /** When the recipient of a `mail` channel agreed; null for other kinds, and before. */
  confirmedAt: z.int().nullable(),
  /** The recipient agreed by being a member, and no longer does after leaving; see `ChannelBook`. Absent after an agreement by the link. */
  isOfMember: z.literal(true).optional(),
  /** Result of the last test; `status` is that of the receiver, null without a response. */
  lastTest: z.strictObject({ at: z.int(), isGood: z.boolean(), status: z.int().nullable() }).nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type AlertChannel = Immutable<z.infer<typeof schema>>

export const alertChannels = defineRecord<AlertChannel>({
  name: 'alert_channel',
  schema,
  isSetting: true,
  isTracked: true,
  projectOf: ({ projectId }) => (projectId === '' ? undefined : projectId),
})

/** See `SecretBox.seal`. */
export const targetContext = (id: string): string => `${alertChannels.name}/${id}/target`

export const membersId = 'members'

/** The channel `members` of an organization that never changed it. */
export const membersChannel: AlertChannel = {
  ...{ id: membersId, projectId: '', kind: 'members', name: 'Members', language: 'en', sealedTarget: '', shown: '' },
  ...{ minSeverity: 'warning', groups: [], afterMinutes: 0, quietHours: null, isOn: true },
  ...{ confirmedAt: null, lastTest: null, createdAt: 0, updatedAt: 0 },
}

/** Whether the channel gets alerts. A `mail` channel gets them after its recipient agreed. */
export const isReady = ({ isOn, kind, confirmedAt }: AlertChannel): boolean => isOn && (kind !== 'mail' || confirmedAt !== null)
export const isMailed = ({ kind }: Pick<AlertChannel, 'kind'>): boolean => kind === 'mail' || kind === 'members'
