/** Fields of the form of a channel, and their conversion to requests. */
import type { AlertChannel, AlertTarget } from '../wire/api.d.ts'

export type Kind = Exclude<AlertChannel['kind'], 'members'>
export type Group = AlertChannel['groups'][number]
export type Language = AlertChannel['language']
export type Severity = AlertChannel['min_severity']

export const kinds: readonly Kind[] = ['slack', 'discord', 'teams', 'telegram', 'ntfy', 'mail', 'webhook']
export const groups: readonly Group[] = ['delivery', 'reputation', 'webhooks', 'domains', 'quota', 'forms', 'security', 'service']

export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', it: 'Italiano' }

/** Target fields by kind; optional ones come last. */
export const targetFields = {
  slack: ['url'],
  discord: ['url'],
  teams: ['url'],
  telegram: ['bot_token', 'chat_id'],
  ntfy: ['topic', 'token', 'url'],
  mail: ['address'],
  webhook: ['url'],
} as const satisfies Readonly<Record<Kind, readonly (keyof AlertTarget)[]>>

export type TargetField = (typeof targetFields)[Kind][number]

export interface ChannelDraft extends Readonly<Record<TargetField, string>> {
  readonly [name: string]: unknown
  readonly kind: Kind | 'members'
  readonly name: string
  /** Id of the project. Empty for all projects. */
  readonly project: string
  readonly severity: Severity
  readonly groups: readonly Group[]
  readonly after: string
  readonly isQuiet: boolean
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly language: Language
}

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const newDraft = (project: string, language: Language): ChannelDraft => ({
  ...{ kind: 'slack', name: '', project, severity: 'warning', groups: [], after: '0', language },
  ...{ isQuiet: false, from: '22:00', to: '07:00', zone: ownZone() },
  ...noTarget,
})

const noTarget = { url: '', address: '', bot_token: '', chat_id: '', topic: '', token: '' }

export const draftOf = (channel: AlertChannel): ChannelDraft => ({
  ...newDraft(channel.project_id ?? '', channel.language),
  ...{ kind: channel.kind, name: channel.name, severity: channel.min_severity, groups: channel.groups },
  after: String(channel.after_minutes),
  ...(channel.quiet_hours && { isQuiet: true, ...channel.quiet_hours }),
})

/** Returns the settings of a request, without kind, project and target. */
export const settingsOf = ({ name, severity, groups: chosen, after, isQuiet, from, to, zone, language }: ChannelDraft) => ({
  ...{ name: name.trim(), language, min_severity: severity, groups: [...chosen] },
  after_minutes: Number(after),
  quiet_hours: isQuiet ? { from, to, zone: zone.trim() } : null,
})

/** Returns the entered fields of the target. Undefined if all are empty. */
export function targetOf(draft: ChannelDraft): AlertTarget | undefined {
  if (draft.kind === 'members') return undefined
  const entered = targetFields[draft.kind].flatMap((name) => (draft[name].trim() === '' ? [] : [[name, draft[name].trim()]]))
  return entered.length === 0 ? undefined : Object.fromEntries(entered)
}
