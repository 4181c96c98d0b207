/**
 * `postern sendmail`: exits with 0 only if the message is on disk, at the daemon or in the spool. Other exit codes are those of sysexits.h.
 */
import { hostname, userInfo } from 'node:os'
import { apiKeyVariable, daemonUrlVariable } from '#config/settings/environment.ts'
import { formatEndpoint } from '#config/settings/formats.ts'
import type { Config } from '#config/settings/load.ts'
import { cleanText } from '../../observability/clean-text.ts'
import { isUsed } from '../../process/data-folder.ts'
import { knowsToken, readOperatorFile } from '../../process/operator-file.ts'
import { StartRefused } from '../../process/start-refused.ts'
import { Unreadable } from '../../process/unreadable.ts'
import { commandHelp } from '../command-help.ts'
import { hashApiKey } from '#core/access/keys/key-proof.ts'
import { sendmailProof } from '../../../admin-api/operator/sendmail-address.ts'
import { handOver, keyName, sendSpool, type Receiver } from './hand-over.ts'
import { prepareLetter } from './letter.ts'
import { readSendmailArguments, type SendmailArguments } from './sendmail-arguments.ts'
import { keepInSpool, maxBytes, newSpoolId, spoolFolder, type Spooled } from './spool.ts'

/** Exit codes of sysexits.h. Mail programs treat EX_TEMPFAIL (75) as success, so a message that was not stored never returns it. */
const exits = {
  ok: 0,
  usage: 64,
  dataError: 65,
  unavailable: 69,
  cannotCreate: 73,
  tempFail: 75,
  noPermission: 77,
  configuration: 78,
} as const

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: AsyncIterable<Uint8Array>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Number of spooled messages to send along with a new one. */
const sentAlong = 20

/** Returns the exit code. `load` reads the configuration. */
export async function sendmail(load: () => Config, given: readonly string[], around: Surroundings): Promise<number> {
  const { stdout, stderr } = around
  const say = (text: string): void => void stderr.write(`${cleanText(text)}\n`)
  const args = readSendmailArguments(given)
  if ('wrong' in args) {
    say(args.wrong)
    return exits.usage
  }
  if (args.mode === 'help') {
    stdout.write(commandHelp('sendmail'))
    return exits.ok
  }
  const config = load()
  const daemon = await knownDaemon(config, around.env).catch((error: unknown) => {
    if (error instanceof Unreadable) return error
    throw error
  })
  if (daemon instanceof Unreadable) {
    say(`${daemon.message} Or set POSTERN_SENDMAIL_KEY to an API key.`)
    return exits.noPermission
  }
  if (daemon === undefined) {
    say(`No daemon is configured. ${args.mode === 'spool' ? '' : 'The message was not sent, and nothing was stored. '}${whatToSet}`)
    return exits.configuration
  }
  return args.mode === 'spool' ? sendWaiting(daemon, say) : sendOne(config, args, daemon, { ...around, say })
}

const whatToSet = "Set POSTERN_SENDMAIL_URL and POSTERN_SENDMAIL_KEY, or POSTERN_DATA_DIR to the absolute path of the daemon's data folder."

/** `token` is undefined while the daemon of the data folder does not run. */
interface KnownDaemon extends Omit<Receiver, 'token'> {
  readonly token: string | undefined
  /** null if the daemon is known only by its data folder. */
  readonly key: string | null
  /** Spool folder; undefined if no setting names one. */
  readonly folder: string | undefined
}

/**
 * Finds the daemon by a key, or by a data folder that a daemon has used. Ignores `data` in the current folder: it may belong to another
 * program, and no daemon would send mail from it. Throws `Unreadable` if there is no key and the data folder belongs to another user.
 */
async function knownDaemon(config: Config, env: NodeJS.ProcessEnv): Promise<KnownDaemon | undefined> {
  const { dataDir, isDataDirFixed, http, sendmail: settings } = config
  const key = settings.key ?? (env[apiKeyVariable]?.trim() || null)
  const named = settings.url ?? (env[daemonUrlVariable]?.trim() || undefined)
  const isOthers = (error: unknown): undefined => {
    if (!(error instanceof StartRefused) || (error instanceof Unreadable && key === null)) throw error
  }
  const access = isDataDirFixed ? await readOperatorFile(dataDir).catch(isOthers) : undefined
  const hasFolder = access !== undefined || (isDataDirFixed && (await isUsed(dataDir).catch(isOthers)) === true)
  if (key === null && !hasFolder) return undefined
  const origin = named ?? access?.origin ?? `http://${formatEndpoint(http.listen)}`
  // another process may use the port of a killed daemon
  const isByFile = access !== undefined && (key === null || named === undefined)
  const isAway = isByFile && (await knowsToken({ origin, token: access.token })) !== true
  return {
    origin,
    token: isAway ? undefined : (key ?? access?.token),
    by: keyName(key),
    key,
    folder: hasFolder ? spoolFolder(config) : (settings.spool ?? undefined),
  }
}

interface Sending extends Surroundings {
  readonly say: (text: string) => void
}

async function sendOne(config: Config, args: SendmailArguments, daemon: KnownDaemon, sending: Sending): Promise<number> {
  const { say } = sending
  const input = await readAll(sending.stdin)
  if (!input) {
    say(`The message has more than ${maxBytes} bytes.`)
    return exits.dataError
  }
  const { localRecipient } = config.sendmail
  const letter = prepareLetter(input, args, { user: userName(), hostname: config.smtpHost, localRecipient })
  if ('wrong' in letter) {
    say(letter.wrong)
    return args.recipients.length === 0 && !args.readsRecipients ? exits.usage : exits.dataError
  }
  const { from, to, bytes: message } = letter
  const { token, folder, key } = daemon
  const head = { id: newSpoolId(), from, to, by: daemon.by }
  const spooled: Spooled = { head: { ...head, ...(key !== null && { proof: sendmailProof(hashApiKey(key), head, message) }) }, message }
  if (token === undefined) return keep(folder, spooled, `No daemon runs on ${config.dataDir}.`, say)
  const handed = await handOver({ ...daemon, token }, spooled)
  if (handed.ending === 'away') return keep(folder, spooled, handed.message, say)
  if (handed.ending !== 'taken') {
    say(handed.message)
    return handed.ending === 'refused' ? exits.unavailable : exits.noPermission
  }
  // this message is stored; the next call retries the spool
  if (folder !== undefined) await sendSpool(folder, { ...daemon, token }, { most: sentAlong }).catch(() => undefined)
  return exits.ok
}

async function keep(folder: string | undefined, spooled: Spooled, why: string, say: (text: string) => void): Promise<number> {
  if (folder === undefined) {
    say(
      `The message was not sent, and nothing was stored: ${why} Set POSTERN_SENDMAIL_SPOOL to a folder that stores mail while the daemon is away.`,
    )
    return exits.configuration
  }
  try {
    await keepInSpool(folder, spooled)
    return exits.ok
  } catch (error) {
    say(`${why} The message could not be stored in ${folder}: ${(error as Error).message}. Set POSTERN_SENDMAIL_SPOOL to another folder.`)
    return exits.cannotCreate
  }
}

async function sendWaiting({ folder, token, ...daemon }: KnownDaemon, say: (text: string) => void): Promise<number> {
  if (folder === undefined) {
    say('No spool folder is configured. Set POSTERN_SENDMAIL_SPOOL.')
    return exits.configuration
  }
  if (token === undefined) {
    say('No daemon runs. The mail stays in the spool.')
    return exits.tempFail
  }
  const { refused, left, reason } = await sendSpool(folder, { ...daemon, token })
  for (const one of refused) say(`Moved to the folder failed: ${one}`)
  if (left > 0) say(`${left} ${left === 1 ? 'message stays' : 'messages stay'} in ${folder}: ${reason ?? 'the daemon is away.'}`)
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

/** Returns the user id if the account has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? hostname()}`
  }
}
