/** `postern sendmail`: ends with 0 only when the message is on disk, at the daemon or in the spool; otherwise sysexits.h says why. */
import { hostname, userInfo } from 'node:os'
import { apiKeyVariable } from '#config/settings/environment.ts'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { cleanText } from '../../observability/clean-text.ts'
import { readOperatorFile } from '../../process/operator-file.ts'
import { Unreadable } from '../../process/unreadable.ts'
import { commandHelp } from '../command-help.ts'
import { handOver, keyName, sendSpool, type Receiver } from './hand-over.ts'
import { prepareLetter } from './letter.ts'
import { readSendmailWords, type SendmailWords } from './sendmail-words.ts'
import { keepInSpool, newSpoolId, spoolFolder, type Spooled } from './spool.ts'

/** Of sysexits.h. Mail programs take EX_TEMPFAIL (75) for success, so it never stands for a message that is not kept. */
const exits = { ok: 0, usage: 64, dataError: 65, unavailable: 69, cannotCreate: 73, tempFail: 75, noPermission: 77 } as const

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Largest message that is read at all; the daemon has its own limit. */
const maxBytes = 256 * 1024 * 1024
/** Of those that wait, so many are sent along with a new one. */
const sentAlong = 20

/** Returns the exit code. `load` reads the configuration. */
export async function sendmail(load: () => Config, given: readonly string[], around: Surroundings): Promise<number> {
  const { stdout, stderr } = around
  const say = (text: string): void => void stderr.write(`${cleanText(text)}\n`)
  const words = readSendmailWords(given)
  if ('wrong' in words) {
    say(words.wrong)
    return exits.usage
  }
  if (words.mode === 'help') {
    stdout.write(commandHelp('sendmail'))
    return exits.ok
  }
  const config = load()
  const receiver = await receiverOf(config, around.env).catch((error: unknown) => {
    if (error instanceof Unreadable) return error
    throw error
  })
  if (receiver instanceof Unreadable) {
    say(`${receiver.message} Or give POSTERN_SENDMAIL_KEY an API key.`)
    return exits.noPermission
  }
  const folder = spoolFolder(config)
  return words.mode === 'spool' ? sendWaiting(folder, receiver, say) : sendOne(config, words, receiver, { ...around, folder, say })
}

/** `token` is undefined while no daemon runs whose token could be used. */
type FoundReceiver = Omit<Receiver, 'token'> & { readonly token: string | undefined }

/** Where to hand over: as configured, else to the daemon of the data folder, else to where it would listen. */
async function receiverOf({ dataDir, http, sendmail: { url, key: configured } }: Config, env: NodeJS.ProcessEnv): Promise<FoundReceiver> {
  const key = configured ?? (env[apiKeyVariable]?.trim() || null)
  const access = await readOperatorFile(dataDir).catch((error: unknown) => {
    if (error instanceof Unreadable && key !== null) return undefined
    throw error
  })
  const origin = url ?? access?.origin ?? `http://${formatEndpoint(http.listen)}`
  return { origin, token: key ?? access?.token, by: keyName(key) }
}

interface Sending extends Surroundings {
  readonly folder: string
  readonly say: (text: string) => void
}

async function sendOne(config: Config, words: SendmailWords, receiver: FoundReceiver, sending: Sending): Promise<number> {
  const { say, folder } = sending
  const input = await readAll(sending.stdin)
  if (!input) {
    say(`The message has more than ${maxBytes} bytes.`)
    return exits.dataError
  }
  const { localRecipient } = config.sendmail
  const letter = prepareLetter(input, words, { user: userName(), hostname: config.smtpHost, localRecipient })
  if ('wrong' in letter) {
    say(letter.wrong)
    return words.recipients.length === 0 && !words.readsRecipients ? exits.usage : exits.dataError
  }
  const { from, to, bytes: message } = letter
  const spooled: Spooled = { head: { id: newSpoolId(), from, to, by: receiver.by }, message }
  const { token } = receiver
  if (token === undefined) return keep(folder, spooled, say)
  const handed = await handOver({ ...receiver, token }, spooled)
  if (handed.ending === 'away') return keep(folder, spooled, say)
  if (handed.ending !== 'taken') {
    say(handed.message)
    return handed.ending === 'refused' ? exits.unavailable : exits.noPermission
  }
  // this message is safe: what keeps others from being sent is for the next call
  await sendSpool(folder, { ...receiver, token }, { most: sentAlong }).catch(() => undefined)
  return exits.ok
}

async function keep(folder: string, spooled: Spooled, say: (text: string) => void): Promise<number> {
  try {
    await keepInSpool(folder, spooled)
    return exits.ok
  } catch (error) {
    say(`The daemon is away, and the mail cannot be kept in ${folder}: ${(error as Error).message}. Set POSTERN_SENDMAIL_SPOOL.`)
    return exits.cannotCreate
  }
}

async function sendWaiting(folder: string, receiver: FoundReceiver, say: (text: string) => void): Promise<number> {
  const { token } = receiver
  if (token === undefined) {
    say('No daemon runs; the mail stays in the spool.')
    return exits.tempFail
  }
  const { refused, left, reason } = await sendSpool(folder, { ...receiver, token })
  for (const one of refused) say(`Set aside: ${one}`)
  if (left > 0) say(`${left} in ${folder} wait: ${reason ?? 'the daemon is away.'}`)
  if (left > 0) return exits.tempFail
  return refused.length > 0 ? exits.unavailable : exits.ok
}

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stdin) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) return undefined
  }
  return Buffer.concat(chunks)
}

/** A service account may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? hostname()}`
  }
}
