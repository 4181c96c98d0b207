/** The files of the project for the tidy rules: each TypeScript file is parsed once, each Markdown file read once. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseSync, Visitor, type CallExpression, type Expression } from 'oxc-parser'
import { functionVisits, stateOf } from './state/mutations.ts'
import { nameReadsOf } from './state/name-reads.ts'

/** One `import` or re-export of a file, static or dynamic, for values or for types. */
export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  /** The imported values by their exported names; `*` for all of them. */
  readonly names: readonly string[]
  readonly line: number
}

/** A function, method or arrow function: its first line, all its lines, and its lines without those of nested functions. */
export interface FunctionSpan {
  readonly line: number
  readonly lines: number
  readonly ownLines: number
}

/** A comment, a test title or a string: text for people. */
export interface Prose {
  readonly text: string
  readonly line: number
}

/** One parsed TypeScript file. `path` is relative to the repository and uses `/`. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly Import[]
  readonly functions: readonly FunctionSpan[]
  readonly comments: readonly Prose[]
  readonly titles: readonly Prose[]
  /** Strings and the fixed parts of templates. */
  readonly strings: readonly Prose[]
  /** Every identifier, at its first place. */
  readonly names: readonly Prose[]
  /** State of the module: names of variables that its functions change. */
  readonly state: readonly Prose[]
  /** Names of objects whose properties are read by computed names. */
  readonly nameReads: readonly Prose[]
  readonly focusedTests: readonly number[]
}

/** A Markdown file. */
export interface Document {
  readonly path: string
  readonly text: string
}

/** The input of all rules. */
export interface Tree {
  readonly sources: readonly Source[]
  readonly documents: readonly Document[]
  /** Every file of the repository, of any type. */
  readonly paths: readonly string[]
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Parses one file. Throws on a syntax error, so that no rule passes on an unreadable file. */
export function parseSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text)
  if (errors[0]) throw new SyntaxError(`${path} cannot be parsed: ${errors[0].message}`)
  const lineAt = lineCounter(text)
  const imports: Import[] = []
  const add = (specifier: string, typeOnly: boolean, { start }: Span, names: readonly string[] = typeOnly ? [] : ['*']): number =>
    imports.push({ specifier, typeOnly, names, line: lineAt(start) })

  for (const statement of module.staticImports) {
    const { moduleRequest, entries, start, end } = statement
    const allTypes = entries.length > 0 && entries.every((entry) => entry.isType)
    const typeOnly = allTypes || /^import\s+type\b/.test(text.slice(start, end))
    const values = typeOnly ? [] : entries.filter((entry) => !entry.isType)
    add(
      moduleRequest.value,
      typeOnly,
      statement,
      values.map(({ importName: { kind, name } }) => (kind === 'Name' && name ? name : '*')),
    )
  }
  for (const statement of module.staticExports) {
    const from = statement.entries[0]?.moduleRequest
    const allTypes = statement.entries.every((entry) => entry.isType)
    if (from) add(from.value, allTypes, statement)
  }

  const functions: FunctionSpan[] = []
  const titles: Prose[] = []
  const strings: Prose[] = []
  const focusedTests: number[] = []
  const inner: number[] = [0] // lines of nested functions, one sum for each open function
  const enter = (): number => inner.push(0)
  const leave = ({ start, end }: Span): void => {
    const line = lineAt(start)
    const lines = lineAt(end) - line + 1
    functions.push({ line, lines, ownLines: lines - (inner.pop() ?? 0) })
    inner.push((inner.pop() ?? 0) + lines - 1)
  }
  const seen = new Map<string, number>()
  const note = ({ name, start }: Span & { readonly name: string }): void => {
    if (!seen.has(name)) seen.set(name, start)
  }
  new Visitor({
    ...functionVisits(enter, leave),
    TSImportType: (node) => add(node.source.value, true, node),
    ImportExpression: (node) => node.source.type === 'Literal' && add(String(node.source.value), false, node),
    Literal: (node) => typeof node.value === 'string' && strings.push({ text: node.value, line: lineAt(node.start) }),
    Identifier: note,
    PrivateIdentifier: note,
    TemplateElement: (node) => strings.push({ text: node.value.raw, line: lineAt(node.start) }),
    CallExpression(node) {
      const title = testTitle(node)
      if (title !== undefined) titles.push({ text: title, line: lineAt(node.start) })
      if (calleeChain(node.callee).slice(1).includes('only')) focusedTests.push(lineAt(node.start))
    },
  }).visit(program)

  return {
    path,
    text,
    lines: text === '' ? 0 : lineAt(text.endsWith('\n') ? text.length - 1 : text.length),
    imports,
    functions: functions.toSorted((a, b) => a.line - b.line),
    comments: comments.map(({ value, start }) => ({ text: value, line: lineAt(start) })),
    titles,
    strings,
    names: [...seen].map(([name, start]) => ({ text: name, line: lineAt(start) })),
    nameReads: nameReadsOf(program).map(({ name, start }) => ({ text: name, line: lineAt(start) })),
    state: stateOf(program).map(({ name, start }) => ({ text: name, line: lineAt(start) })),
    focusedTests,
  }
}

/** Reads the selected `.ts`, `.tsx` and `.md` files that git tracks or does not ignore, so new files are checked before a commit. */
export function readTree(root: string, isWanted: (path: string) => boolean = () => true): Tree {
  const paths = listFiles(root).filter((path) => isWanted(path) && existsSync(join(root, path)))
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  return {
    sources: paths.filter((path) => /\.tsx?$/.test(path)).map((path) => parseSource(path, read(path))),
    documents: paths.filter((path) => path.endsWith('.md')).map((path) => ({ path, text: read(path) })),
    paths,
  }
}

// Uses safe.directory, since the checkout may belong to another user, as in a container. Without git, as in an unpacked archive, the folder
// contains only sources and installed packages.
function listFiles(root: string): string[] {
  const git = spawnSync('git', ['-c', 'safe.directory=*', 'ls-files', '-coz', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  if (git.status === 0) return git.stdout.split('\0').filter(Boolean)
  return globSync('**/*', { cwd: root, exclude: ['node_modules', 'data', 'coverage'], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)]
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}

/** Returns `['test', 'serial', 'only']` for `test.serial.only`; empty for calls of anything but `test`. */
function calleeChain(callee: Expression): string[] {
  if (callee.type === 'Identifier') return callee.name === 'test' ? ['test'] : []
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return []
  const before = calleeChain(callee.object)
  return before.length ? [...before, callee.property.name] : []
}

function testTitle({ callee, arguments: [first] }: CallExpression): string | undefined {
  if (!calleeChain(callee).length || !first) return undefined
  if (first.type === 'Literal' && typeof first.value === 'string') return first.value
  return first.type === 'TemplateLiteral' ? first.quasis.map((quasi) => quasi.value.raw).join('…') : undefined
}
