/**
 * Parses a template: variables in double braces, `if … else if … else … end` and `range … else … end`. There are no functions, so templates
 * cannot run code.
 */
import { runAtOnce, type Steps } from '../event-loop.ts'
import { scan } from './scanner.ts'
import { readPath, type Branch, type Node, type ParsedTemplate, type VariablePath } from './syntax.ts'
import { quoted, TemplateFault } from './template-fault.ts'

/** Maximum depth of nested `if` and `range`. */
const maxDepth = 10

/** A block without its `end` yet. */
interface OpenBlock {
  readonly kind: 'if' | 'range'
  readonly at: number
  /** Branches of an `if`; for a `range`, one branch with its list as the condition. */
  readonly branches: { readonly condition: VariablePath; readonly body: Node[] }[]
  otherwise: Node[] | undefined
  /** Node list that will contain the block. */
  readonly outer: Node[]
}

/** Throws a `TemplateFault` at the first error. */
export const parseTemplate = (source: string): ParsedTemplate => runAtOnce(parsingTemplate(source))

/** Tokens per step; a step takes a few milliseconds. */
const stepTokens = 2000

/** Parses in steps. Throws like `parseTemplate`. */
export function* parsingTemplate(source: string): Steps<ParsedTemplate> {
  const tree = new Tree()
  let tokens = 0
  for (const token of scan(source)) {
    if (++tokens % stepTokens === 0) yield
    if (token.kind === 'text') tree.add({ kind: 'text', text: token.text })
    else readAction(tree, token.code, token.at)
  }
  return { source, nodes: tree.finish() }
}

function readAction(tree: Tree, code: string, at: number): void {
  const [, word = '', blanks = '', rest = ''] = /^(if|range|else|end)(?![\p{L}\p{N}_.-])(\s*)(.*)$/su.exec(code) ?? []
  const restAt = at + word.length + blanks.length
  const literal = /^"([^"]*)"$/.exec(code)?.[1]
  if (literal !== undefined) tree.add({ kind: 'text', text: literal })
  else if (word === 'if' || word === 'range') tree.open(word, readSubject(word, rest, restAt), at)
  else if (word === 'else') readElse(tree, rest, restAt, at)
  else if (word === 'end') tree.end(rest, at)
  else tree.add({ kind: 'print', path: readPath(code, at) })
}

function readElse(tree: Tree, rest: string, restAt: number, at: number): void {
  if (rest === '') return tree.otherwise(at)
  const [whole, condition = ''] = /^if(?:\s+(.*))?$/s.exec(rest) ?? []
  if (whole === undefined) throw new TemplateFault(`else ${quoted(rest)} is not supported; write {{else}} or {{else if .name}}`, at)
  tree.elseIf(readSubject('else if', condition, restAt + whole.length - condition.length), at)
}

function readSubject(word: string, code: string, at: number): VariablePath {
  if (code === '') throw new TemplateFault(`${word} needs a variable, such as {{${word} .name}}`, at)
  return readPath(code, at)
}

/** Tree under construction. */
class Tree {
  readonly #root: Node[] = []
  readonly #open: OpenBlock[] = []
  #into = this.#root

  add(node: Node): void {
    this.#into.push(node)
  }

  open(kind: OpenBlock['kind'], condition: VariablePath, at: number): void {
    if (this.#open.length === maxDepth) throw new TemplateFault(`if and range nest deeper than ${maxDepth} levels`, at)
    const body: Node[] = []
    this.#open.push({ kind, at, branches: [{ condition, body }], otherwise: undefined, outer: this.#into })
    this.#into = body
  }

  elseIf(condition: VariablePath, at: number): void {
    const block = this.#last('else if', at)
    if (block.kind === 'range') throw new TemplateFault('else if belongs to if; a range has {{else}} only, for an empty list', at)
    if (block.otherwise) throw new TemplateFault('else if comes after else; else is the last branch', at)
    const body: Node[] = []
    block.branches.push({ condition, body })
    this.#into = body
  }

  otherwise(at: number): void {
    const block = this.#last('else', at)
    if (block.otherwise) throw new TemplateFault(`this ${block.kind} has an else already`, at)
    this.#into = block.otherwise = []
  }

  end(rest: string, at: number): void {
    if (rest !== '') throw new TemplateFault(`end takes no argument; remove ${quoted(rest)}`, at)
    const block = this.#last('end', at)
    this.#open.pop()
    this.#into = block.outer
    this.add(nodeOf(block))
  }

  finish(): readonly Node[] {
    const block = this.#open.at(-1)
    if (block) throw new TemplateFault(`this ${block.kind} is never ended; write {{end}}`, block.at)
    return this.#root
  }

  #last(word: string, at: number): OpenBlock {
    const block = this.#open.at(-1)
    if (!block) throw new TemplateFault(`${word} without an if or range before it`, at)
    return block
  }
}

function nodeOf({ kind, branches, otherwise = [] }: OpenBlock): Node {
  const [first] = branches as readonly Branch[]
  return kind === 'range' && first ? { kind, list: first.condition, body: first.body, otherwise } : { kind: 'if', branches, otherwise }
}
