/** Targets of channels: checked when they are set, sealed in the store, and opened for each request. */
import { addressProblem } from '#config/mail/address-problem.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { foldAddress, parseExactAddress } from '../../addresses.ts'
import { invalid } from '../../refusals.ts'
import { checkTargetUrl, type TargetGuards } from '../../webhooks/endpoints/target-url.ts'
import type { RequestTarget, SentDelivery } from '../../webhooks/sending/request.ts'
import { newWebhookSecret } from '../../webhooks/sending/signature.ts'
import { targetContext, type AlertChannel, type TargetKind } from './alert-channel.ts'
import type { AlertEvent } from '../kinds/alert-event.ts'
import { discord } from '../kinds/discord.ts'
import type { AlertRequest, AlertToWrite } from '../kinds/kind.ts'
import { ntfy } from '../kinds/ntfy.ts'
import { slack } from '../kinds/slack.ts'
import { teams } from '../kinds/teams.ts'
import { telegram, telegramUrl, telegramWaitMs } from '../kinds/telegram.ts'
import { webhook } from '../kinds/webhook.ts'
import { redactor } from './redact.ts'

/** A target as a caller gives it. Each kind has its own fields. */
export interface TargetInput {
  readonly address?: string | undefined
  readonly url?: string | undefined
  readonly botToken?: string | undefined
  readonly chatId?: string | undefined
  readonly topic?: string | undefined
  readonly token?: string | undefined
}

/** A stored target; fields of other kinds are empty. */
export interface Target {
  readonly address: string
  readonly url: string
  readonly botToken: string
  readonly chatId: string
  readonly topic: string
  readonly token: string | null
  readonly secret: string
}

export const noTarget: Target = { address: '', url: '', botToken: '', chatId: '', topic: '', token: null, secret: '' }

const fields = {
  mail: ['address'],
  slack: ['url'],
  discord: ['url'],
  teams: ['url'],
  telegram: ['botToken', 'chatId', 'url'],
  ntfy: ['url', 'topic', 'token'],
  webhook: ['url'],
} as const satisfies Readonly<Record<TargetKind, readonly (keyof TargetInput)[]>>

const wireNames = {
  ...{ address: 'address', url: 'url', botToken: 'bot_token', chatId: 'chat_id', topic: 'topic', token: 'token' },
} as const satisfies Readonly<Record<keyof TargetInput, string>>

/** Servers of the kinds that can also be hosted by oneself. */
const servers = { telegram: 'https://api.telegram.org/', ntfy: 'https://ntfy.sh/' } as const

const isOptional = (kind: TargetKind, name: keyof TargetInput): boolean =>
  (kind === 'telegram' && name === 'url') || (kind === 'ntfy' && name !== 'topic')

/** Returns the target to store. A webhook gets a new secret. Throws `validation_failed`. */
export async function checkTarget(kind: TargetKind, input: TargetInput, guards: TargetGuards): Promise<Target> {
  const own: readonly (keyof TargetInput)[] = fields[kind]
  const foreign = (Object.keys(wireNames) as (keyof TargetInput)[]).filter((name) => input[name] !== undefined && !own.includes(name))
  if (foreign[0] !== undefined) throw wrong(foreign[0], `is no field of the kind ${kind}`)
  const missing = own.find((name) => input[name] === undefined && !isOptional(kind, name))
  if (missing !== undefined) throw wrong(missing, `is required for the kind ${kind}`)
  if (kind === 'mail') return { ...noTarget, address: addressOf(input.address ?? '') }
  const url = await checkTargetUrl(input.url ?? servers[kind === 'telegram' ? 'telegram' : 'ntfy'], guards, 'target.url')
  if (kind === 'telegram') return { ...noTarget, url: url.endsWith('/') ? url : `${url}/`, ...telegramTarget(input) }
  if (kind === 'teams' && isRetired(url))
    throw wrong('url', 'is an Office 365 connector, which Microsoft has retired; create a workflow in Teams and use its URL')
  if (kind === 'webhook') return { ...noTarget, url, secret: newWebhookSecret() }
  if (kind !== 'ntfy') return { ...noTarget, url }
  const { topic = '', token = null } = input
  if (!/^[\w-]{1,64}$/.test(topic)) throw wrong('topic', 'must have 1 to 64 letters, digits, hyphens or underscores')
  if (token !== null && !/^[\x21-\x7e]{1,200}$/.test(token)) throw wrong('token', 'must have 1 to 200 visible ASCII characters')
  return { ...noTarget, url, topic, token }
}

const wrong = (name: keyof TargetInput, message: string): Error => invalid([{ path: `target.${wireNames[name]}`, message }])

function addressOf(address: string): string {
  const mailbox = parseExactAddress(address)
  if (mailbox) return foldAddress(mailbox.address)
  throw wrong('address', addressProblem(address) ?? 'must be an email address such as name@example.org')
}

function telegramTarget({ botToken = '', chatId = '' }: TargetInput): Pick<Target, 'botToken' | 'chatId'> {
  if (!/^\d{5,20}:[\w-]{20,100}$/.test(botToken)) throw wrong('botToken', 'must be the token of a bot, such as 123456:ABC-DEF…')
  if (!/^(?:-?\d{1,20}|@\w{4,64})$/.test(chatId)) throw wrong('chatId', 'must be a number, or the name of a channel such as @alerts')
  return { botToken, chatId }
}

function isRetired(url: string): boolean {
  const { hostname, pathname } = new URL(url)
  const host = hostname.replace(/\.$/, '')
  if (/^outlook\.office(?:365)?\.com$/.test(host)) return pathname.startsWith('/webhook/')
  return host === 'webhook.office.com' || host.endsWith('.webhook.office.com')
}

/** Returns the target without its secret part, for people who know where it leads. */
export function shownOf(kind: TargetKind, target: Target): string {
  const { address, url, botToken, topic } = target
  if (kind === 'mail') return `${address.slice(0, 1)}…${address.slice(address.lastIndexOf('@'))}`
  if (kind === 'telegram') return `${new URL(url).host}/…${botToken.slice(-4)}`
  return `${new URL(url).host}/…${kind === 'ntfy' ? topic.slice(-2) : url.slice(-4)}`
}

/** Returns undefined if the target was sealed under another master key. */
export function openTarget(secrets: Pick<SecretBox, 'open'>, { id, sealedTarget }: AlertChannel): Target | undefined {
  const text = secrets.open(sealedTarget, targetContext(id))
  return text === undefined ? undefined : { ...noTarget, ...(JSON.parse(text) as Partial<Target>) }
}

type Write = (alert: AlertToWrite, target: Target) => AlertRequest
const writers: Readonly<Record<Exclude<TargetKind, 'mail'>, Write>> = { slack, discord, teams, telegram, ntfy, webhook }

/** Returns how requests to a chat or webhook are written; undefined for mail. */
export function requestTarget(secrets: Pick<SecretBox, 'open'>, channel: AlertChannel): RequestTarget | undefined {
  const { kind, language, shown } = channel
  if (kind === 'mail' || kind === 'members') return undefined
  const target = openTarget(secrets, channel)
  const write = ({ deliveryId, body }: SentDelivery, at: number): AlertRequest | undefined =>
    target && writers[kind]({ event: JSON.parse(body) as AlertEvent, body, deliveryId, at, language }, target)
  return {
    ...{ write, shownUrl: shown, redact: redactor(target ? secretsOf(kind, target) : []) },
    ...(kind === 'telegram' && { retryAfterMs: telegramWaitMs }),
  }
}

/** Returns everything that gives access to the chat. */
function secretsOf(kind: TargetKind, target: Target): readonly string[] {
  const { url, botToken, topic, token, secret } = target
  return [kind === 'telegram' ? telegramUrl(target) : url, botToken, ...botToken.split(':').slice(1), topic, token ?? '', secret]
}
