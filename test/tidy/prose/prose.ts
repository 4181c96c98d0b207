/** Counts constructions that are hard to read, by kind of text. */
import type { Tree } from '../source.ts'
import { constructions } from './constructions.ts'

/** A text for people. */
export interface Passage {
  readonly path: string
  readonly line: number
  readonly text: string
}

export const kinds = [
  'comments',
  'errors',
  'screens',
  'docs',
  'documents',
  'decisions',
  'changelog',
  'test comments',
  'test texts',
] as const
export type Kind = (typeof kinds)[number]

/** Constructions per 1,000 words. */
export type Budget = Readonly<Record<Kind, number>>

/** Translations, and this rule, which quotes the refused constructions. */
const isLeftOut = (path: string): boolean => /(?:^|[./-])(?:de|fr|it|ar)\.ts$|^test\/tidy\/prose\//.test(path)
/** A text with two adjacent words; names, codes and keys have none. */
const isSentence = (text: string): boolean => /[a-z]{2} [a-z]{2}/i.test(text)

/** The passages of a repository by kind. `catalog` reads a JSON file. */
export function passagesOf({ sources, documents, paths }: Tree, catalog: (path: string) => unknown): ReadonlyMap<Kind, readonly Passage[]> {
  const found = new Map<Kind, Passage[]>(kinds.map((kind) => [kind, []]))
  for (const { path, comments, strings } of sources) {
    if (isLeftOut(path)) continue
    const isTest = path.startsWith('test/')
    const place = (kind: Kind, prose: readonly { readonly text: string; readonly line: number }[]): void =>
      void found.get(kind)?.push(...prose.map(({ text, line }) => ({ path, line, text })))
    place(isTest ? 'test comments' : 'comments', comments)
    const kind = isTest ? 'test texts' : /\btexts[/.]|\.en\.ts$|dashboard\/client/.test(path) ? 'screens' : 'errors'
    place(
      kind,
      strings.filter(({ text }) => isSentence(text)),
    )
  }
  for (const { path, text } of documents) found.get(kindOfDocument(path))?.push({ path, line: 1, text: withoutCode(text) })
  for (const path of paths.filter((each) => /\/en\/[^/]*\.json$/.test(each) && !each.startsWith('test/')))
    found.get('screens')?.push(...messagesIn(catalog(path)).map((text) => ({ path, line: 1, text })))
  return found
}

function kindOfDocument(path: string): Kind {
  if (path.includes('decisions/')) return 'decisions'
  if (path === 'CHANGELOG.md') return 'changelog'
  return path.includes('docs/') ? 'docs' : 'documents'
}

/** Keeps the line count, so that positions stay right. */
const withoutCode = (text: string): string => text.replaceAll(/```[\s\S]*?```/g, (code) => code.replaceAll(/[^\n]/g, ''))

function messagesIn(tree: unknown): string[] {
  if (typeof tree === 'string') return [tree]
  return typeof tree === 'object' && tree !== null ? Object.values(tree).flatMap(messagesIn) : []
}

/** A construction at its place. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly words: string
  readonly instead: string
}

export const findingsIn = ({ path, line, text }: Passage): readonly Finding[] =>
  constructions.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: words, index }) => ({
      path,
      line: line + text.slice(0, index).split('\n').length - 1,
      words: words.trim(),
      instead,
    })),
  )

/** Constructions per 1,000 words, with one decimal. */
export function rateOf(passages: readonly Passage[]): number {
  const words = passages.reduce((sum, { text }) => sum + text.split(/\s+/).filter(Boolean).length, 0)
  const found = passages.reduce((sum, passage) => sum + findingsIn(passage).length, 0)
  return words === 0 ? 0 : Math.round((10_000 * found) / words) / 10
}

/** A budget may exceed its rate by so much, so that small changes do not touch it. */
const slack = 0.5
/** No budget may be larger. */
const largest = (kind: Kind): number => (kind === 'comments' ? 5 : 3)

/** Checks each kind of text against its budget. A budget follows its rate down, and never exceeds the largest one. */
export const budgetFaults = (passages: ReadonlyMap<Kind, readonly Passage[]>, budget: Budget): readonly string[] =>
  kinds.flatMap((kind) => {
    const rate = rateOf(passages.get(kind) ?? [])
    const { [kind]: limit } = budget
    const found = `${kind}: ${String(rate)} constructions per 1,000 words, and the budget is ${String(limit)}`
    if (rate > limit) return [`${found}; rewrite the sentences that "npm run prose -- FILE" lists`]
    if (limit > largest(kind)) return [`${kind}: the budget is ${String(limit)}, and the largest one is ${String(largest(kind))}`]
    return limit > rate + slack ? [`${found}; lower it in test/tidy/prose/budget.json`] : []
  })

/** Returns a sentence for each budget that a change raised; a budget only falls. */
export const raisedBudgets = (before: Budget, now: Budget): readonly string[] =>
  kinds.flatMap((kind) => {
    const [{ [kind]: old }, { [kind]: next }] = [before, now]
    return next > old ? [`${kind}: the budget was ${String(old)} and is ${String(next)}; a budget only falls`] : []
  })
