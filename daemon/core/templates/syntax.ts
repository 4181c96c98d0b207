/** Nodes of a template, and the syntax of variables. */
import { quoted, TemplateFault } from './template-fault.ts'

/** A variable: a path of names from the root (`$`) or from the current value (`.`). */
export interface VariablePath {
  readonly fromRoot: boolean
  readonly names: readonly string[]
  /** Offset in the template. */
  readonly at: number
}

export interface Branch {
  readonly condition: VariablePath
  readonly body: readonly Node[]
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly path: VariablePath }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: readonly Node[] }
  | { readonly kind: 'range'; readonly list: VariablePath; readonly body: readonly Node[]; readonly otherwise: readonly Node[] }

/** A template without faults. */
export interface ParsedTemplate {
  readonly source: string
  readonly nodes: readonly Node[]
}

const maxNames = 10
const maxName = 100
const variableName = /^[\p{L}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?$/u

/**
 * Returns true for letters, digits, `_` and `-`, beginning with a letter or `_`. A final `-` is invalid, because it would be a trim marker.
 */
export const isVariableName = (text: string): boolean => text.length <= maxName && variableName.test(text)

/** Parses `.`, `$`, `name`, `.name`, `.order.total` or `$.order.total`. Throws a fault with the correction. */
export function readPath(code: string, at: number): VariablePath {
  const fromRoot = code.startsWith('$')
  const rest = fromRoot ? code.slice(1) : code
  if (rest === (fromRoot ? '' : '.')) return { fromRoot, names: [], at }
  const names = (rest.startsWith('.') ? rest.slice(1) : rest).split('.', maxNames + 1)
  const isPath = (!fromRoot || rest.startsWith('.')) && names.every(isVariableName)
  if (!isPath) throw new TemplateFault(notAPath(code), at)
  if (names.length > maxNames) throw new TemplateFault(`a variable has at most ${maxNames} names joined by dots`, at)
  return { fromRoot, names, at }
}

function notAPath(code: string): string {
  if (code === '') return 'the braces are empty; write a variable such as {{.name}}'
  if (code.includes('{{')) return '{{ is never closed; end it with }}'
  if (code.startsWith('{')) return 'three braces are not supported; values are always escaped in HTML'
  if (/^[#/^>!&~]/.test(code)) return `${quoted(code)} is not supported; write {{if .name}} or {{range .items}}, and {{end}}`
  if (/[\s|(=]/.test(code)) return `${quoted(code)} is not supported; write one variable such as {{.name}}, without functions`
  return `${quoted(code)} is no variable; names have letters, digits, _ and -, and dots between them`
}
