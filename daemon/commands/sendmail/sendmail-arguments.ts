/** The traditional options of /usr/sbin/sendmail. */

export interface SendmailArguments {
  readonly mode: 'send' | 'spool' | 'help'
  /** Envelope sender (`-f`, `-r`); empty means the null reverse-path. */
  readonly from: string | undefined
  /** Name of the sender for a message without From (`-F`). */
  readonly fullName: string | undefined
  /** Adds the recipients in To, Cc and Bcc (`-t`). */
  readonly readsRecipients: boolean
  /** A line with only a dot ends the message; disabled by `-i` and `-oi`. */
  readonly dotEnds: boolean
  readonly recipients: readonly string[]
}

type Draft = { -readonly [Key in keyof SendmailArguments]: SendmailArguments[Key] } & { recipients: string[] }

/** A sentence about an invalid or unsupported option. */
export interface Wrong {
  readonly wrong: string
}

/** Options with a value that have no effect here. */
const ignoredWithValue = 'BCDhLNOpRVX'
/** Options without a value that have no effect here. */
const ignoredFlags = 'AcEeGImnUvx'

const refusedModes: Readonly<Record<string, string>> = {
  s: 'postern sendmail does not support SMTP on standard input (-bs). Submit by SMTP to a listener of the daemon.',
  d: 'postern sendmail cannot run as a daemon (-bd). Use "postern serve".',
  D: 'postern sendmail cannot run as a daemon (-bD). Use "postern serve".',
  p: 'postern sendmail does not list the queue (-bp). Use "postern queue list" or the dashboard; messages not yet sent to the daemon are in the spool folder.',
  i: 'postern sendmail has no aliases (-bi). Mail to local names goes to POSTERN_SENDMAIL_LOCAL_RECIPIENT.',
  t: 'postern sendmail does not support address tests (-bt).',
  v: 'postern sendmail does not verify addresses (-bv).',
}

/** Parses the arguments after `postern sendmail`. */
export function readSendmailArguments(args: readonly string[]): SendmailArguments | Wrong {
  const draft: Draft = {
    ...{ mode: 'send', from: undefined, fullName: undefined, readsRecipients: false, dotEnds: true, recipients: [] },
  }
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    if (word === '--') {
      draft.recipients.push(...args.slice(i + 1))
      break
    }
    if (word === '--help') return { ...draft, mode: 'help' }
    if (!word.startsWith('-') || word === '-') {
      draft.recipients.push(word)
      continue
    }
    const read = readOptions(word.slice(1), args[i + 1], draft)
    if (typeof read === 'object') return read
    if (read === 'took the next') i++
  }
  return draft
}

/** Parses one argument: flags may be combined, and a value may follow its letter or be the next argument. */
function readOptions(letters: string, next: string | undefined, draft: Draft): 'done' | 'took the next' | Wrong {
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? ''
    const rest = letters.slice(at + 1)
    if (letter === 't') draft.readsRecipients = true
    else if (letter === 'i') draft.dotEnds = false
    else if (letter === 'b') return modeOf(rest)
    else if (letter === 'o') {
      if (rest.startsWith('i')) draft.dotEnds = false // the other -o options configure sendmail itself
      return 'done'
    } else if (letter === 'q') {
      if (rest !== '') return { wrong: `postern sendmail does not send at intervals (-q${rest}). Use -q to send the spool once.` }
      draft.mode = 'spool'
    } else if ('fFr'.includes(letter) || ignoredWithValue.includes(letter)) {
      const value = rest === '' ? next : rest
      if (value === undefined) return { wrong: `-${letter} needs a value.` }
      if (letter === 'F') draft.fullName = value
      else if (letter === 'f' || letter === 'r') draft.from = value.replace(/^<(.*)>$/s, '$1').trim()
      return rest === '' ? 'took the next' : 'done'
    } else if (!ignoredFlags.includes(letter)) return { wrong: `postern sendmail has no option -${letter}.` }
  }
  return 'done'
}

/** `-bm` is the default. */
function modeOf(mode: string): 'done' | Wrong {
  if (mode === 'm') return 'done'
  return { wrong: refusedModes[mode] ?? `postern sendmail has no mode -b${mode}.` }
}
