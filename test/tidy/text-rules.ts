/** Rules for text: file headers, RFC citations in one form, no replaced phrases, no marks of unfinished work. */
import type { Document, Prose, Source } from './source.ts'

const leftover = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X'.repeat(3)].join('|')})\\b`)

/** Marks of unfinished work, and tests that silence the others. */
export function leftovers(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text, focusedTests }) => [
    ...text.split('\n').flatMap((line, index) => {
      const mark = leftover.exec(line)?.[1]
      return mark ? [`${path}:${index + 1} ${mark}: finish it, or write an issue`] : []
    }),
    ...focusedTests.map((line) => `${path}:${line} a test marked "only" hides all others`),
  ])
}

/** Source files, except tests, that do not begin with a comment about their contents. */
export const headers = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path, text }) => !path.startsWith('test/') && !/^(#!.*\n)?\/[/*]/.test(text))
    .map(({ path }) => `${path} does not start with a comment that describes it`)

/** Citations that a search for the one form, `RFC 3464 §2.3.3` or a bare `RFC 3464`, would miss: in comments, test titles and documents. */
export function citations(sources: readonly Source[], documents: readonly Document[]): string[] {
  return [
    ...sources.flatMap(({ path, comments, titles }) => [...comments, ...titles].flatMap((prose) => oddCitations(path, prose))),
    ...documents.flatMap(({ path, text }) => oddCitations(path, { text, line: 1 })),
  ]
}

// A line break, with the star that continues a comment, counts as a blank.
const blank = String.raw`(?:[ \t]|[ \t]*\n[ \t]*\*?[ \t]*)`
const mention = new RegExp(
  String.raw`(?<before>(?:section|§)\s*[\d.]+\s+(?:of|in)\s+(?:the\s+)?)?` +
    String.raw`(?<![\w/.-])(?<name>rfcs?${blank}*[-#]?${blank}*\d{3,5})\b` +
    String.raw`(?<after>,?${blank}*(?:\(?(?:sections?\b|sect?\.|chapter\b|appendix\b)|§+)${blank}*[\w.]*)?`,
  'gi',
)

function oddCitations(path: string, { text, line }: Prose): string[] {
  return [...text.matchAll(mention)].flatMap((match) => {
    const { before = '', name = '', after = '' } = match.groups ?? {}
    if (name === 'rfc822') return [] // the address type and media type, not a document
    const cited = flat(before + name + after)
    if (/^RFC \d+( §[A-Z0-9]+(\.[A-Z0-9]+)*\.?)?$/.test(cited)) return []
    const at = line + text.slice(0, match.index).split('\n').length - 1
    return [`${path}:${at} "${cited}": write it as RFC 3464 §2.3.3`]
  })
}

const flat = (text: string): string => text.replace(/[ \t]*\n[ \t]*\*?[ \t]*/g, ' ')

// A replaced phrase, and its replacement.
const replaced: readonly (readonly [phrase: string, instead: string])[] = [
  ['in this answer only', 'Only this response contains …'],
  ['shown this once', 'Shown only once'],
  ['twice is the same as once', 'Idempotent.'],
  ['the newest first', 'newest first'],
  ['the oldest first', 'oldest first'],
]

// Phrases replaced in comments too.
const replacedEverywhere: readonly (readonly [phrase: string, instead: string])[] = [
  ['unless told', 'by default'],
  ['hears of', 'is notified of'],
  ['what became of', 'the outcome of'],
  ['strangers?', 'others, unauthenticated or untrusted'],
]

/** Replaced phrases that returned, in strings and comments of sources, except tests, and in documents. */
export function replacedPhrases(sources: readonly Source[], documents: readonly Document[]): string[] {
  const all = [...replaced, ...replacedEverywhere]
  return [
    ...sources
      .filter(({ path }) => !path.startsWith('test/'))
      .flatMap(({ path, strings, comments }) => [
        ...strings.flatMap((prose) => phrasesIn(path, prose, all)),
        ...comments.flatMap((prose) => phrasesIn(path, prose, replacedEverywhere)),
      ]),
    ...documents.flatMap(({ path, text }) => phrasesIn(path, { text, line: 1 }, all)),
  ]
}

function phrasesIn(path: string, { text, line }: Prose, phrases: typeof replaced): string[] {
  return phrases.flatMap(([phrase, instead]) => {
    const found = new RegExp(`\\b${phrase.replaceAll(' ', blank)}\\b`, 'i').exec(text)
    return found
      ? [`${path}:${line + text.slice(0, found.index).split('\n').length - 1} "${flat(found[0]).toLowerCase()}": write "${instead}"`]
      : []
  })
}

// Replaced names, and the field's word for each.
const replacedNames: ReadonlyMap<string, string> = new Map([
  ['Asker', 'Requester'],
  ['CaptureBell', 'CaptureEvents'],
  ['Detour', 'Failover'],
  ['Exchange', 'RequestHandler'],
  ['HealthBoard', 'HealthRegistry'],
  ['House', 'CoreFixture'],
  ['Lane', 'DestinationQueue, EndpointQueue or InboxQueue'],
  ['Rig', 'Fixture'],
  ['Rounds', 'WorkLoop'],
  ['Turns', 'RoundRobin or KeyedMutex'],
  ['UnderWay', 'InFlight'],
  ['asker', 'requester or principal'],
  ['detour', 'failover'],
  ['hasRight', 'hasScope'],
  ['house', 'fixture'],
  ['openToPages', 'allowsAnyOrigin'],
  ['requireRight', 'requireScope'],
  ['rig', 'fixture'],
  ['rights', 'scopes'],
  ['secretPlace', 'secretContext'],
  ['underWay', 'inFlight'],
  ['unlessTold', 'defaults'],
  ['stranger', 'outsider or untrusted'],
])

// Words replaced in compound names too; `inSources` in all files except tests.
const replacedParts: ReadonlyMap<string, string> = new Map([
  ['asker', 'requester or principal'],
  ['detour', 'failover'],
  ['house', 'fixture'],
  ['judgement', 'finding'],
  ['nobodys', 'missing or anonymous'],
  ['patience', 'a limit by what it limits, such as maxOutageMs'],
  ['rights', 'scopes'],
  ['stranger', 'outsider or untrusted'],
])
const inSources: ReadonlyMap<string, string> = new Map([
  ['heard', 'reported or notified'],
  ['judge', 'check'],
  ['judged', 'checked'],
  ['mint', 'create'],
  ['minted', 'created, or with its secret'],
  ['minter', 'creator'],
  ['nobody', 'none or anonymous'],
  ['told', 'reported, notified or shown'],
])
// Names of records and of the API.
const storedNames: ReadonlySet<string> = new Set(['minter', 'mintedBy', 'minted_by', 'mintedWith'])

/**
 * Replaced identifiers that returned, whole or in a compound. A limit is named `maxBytes`, not `bytesMax`. Generated files have the names
 * of the API.
 */
export function replacedIdentifiers(sources: readonly Source[]): string[] {
  const own = sources.filter(({ text }) => !text.startsWith('/** Written by '))
  return own.flatMap(({ path, names }) =>
    names.flatMap(({ text, line }) => {
      const [, limit] = /^([a-z]\w*)Max$/.exec(text) ?? []
      const instead = limit === undefined ? insteadOf(path, text) : `max${limit.charAt(0).toUpperCase()}${limit.slice(1)}`
      return instead === undefined ? [] : [`${path}:${line} ${text}: name it ${instead}`]
    }),
  )
}

function insteadOf(path: string, name: string): string | undefined {
  if (storedNames.has(name)) return undefined
  const parts = name.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map((part) => part.toLowerCase())
  const part = parts.find((word) => replacedParts.has(word) || (!path.startsWith('test/') && inSources.has(word)))
  return replacedNames.get(name) ?? (part && (replacedParts.get(part) ?? inSources.get(part)))
}

const widest = 140

/** Faults of comments, also in tests: "Answers" at the start, replaced pronouns, and lines above the width. */
export function oddComments(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text, comments }) => {
    const lines = text.split('\n')
    return comments.flatMap((comment) => [
      ...(/^[\s*]*Answers?\b/.test(comment.text) ? [`${path}:${comment.line} "Answers …": write "Returns …"`] : []),
      ...phrasesIn(path, comment, [['nobody', 'no one, none or what is missing']]),
      ...comment.text.split('\n').flatMap((_, at) => {
        const width = lines[comment.line - 1 + at]?.length ?? 0
        return width > widest ? [`${path}:${comment.line + at} ${width} characters: wrap the comment at ${widest}, or shorten it`] : []
      }),
    ])
  })
}
