/** Whether every variable that a template uses is declared in its schema. Spec "Template". */
import type { Schema } from './schema.ts'
import { typesInWords } from './schema-values.ts'
import type { Branch, Node, ParsedTemplate, VariablePath } from './syntax.ts'
import { TemplateFault } from './template-fault.ts'

/** The variables of a reply to a form submission, which go together. */
const ofForms = ['fields', 'form'] as const

/** What a variable may hold. Without a schema it may be anything. */
interface DeclaredValue {
  readonly schema: Schema | undefined
  readonly isRoot: boolean
  readonly name: string
}

/** One fault for each variable that is not declared, or declared as something that cannot be used so; at its first use. */
export function undeclared({ nodes }: ParsedTemplate, schema: Schema | undefined): readonly TemplateFault[] {
  const check = new DeclarationCheck({ schema, isRoot: true, name: '' })
  check.all(nodes, check.root)
  return [...check.faults.values()]
}

class DeclarationCheck {
  readonly root: DeclaredValue
  readonly faults = new Map<string, TemplateFault>()

  constructor(root: DeclaredValue) {
    this.root = root
  }

  all(nodes: readonly Node[], dot: DeclaredValue): void {
    for (const node of nodes) {
      if (node.kind === 'print') this.#printed(node.path, dot)
      else if (node.kind === 'if') this.#branches(node.branches, node.otherwise, dot)
      else if (node.kind === 'range') {
        this.all(node.body, this.#entry(node.list, dot))
        this.all(node.otherwise, dot)
      }
    }
  }

  #branches(branches: readonly Branch[], otherwise: readonly Node[], dot: DeclaredValue): void {
    for (const { condition, body } of branches) {
      this.#find(condition, dot)
      this.all(body, dot)
    }
    this.all(otherwise, dot)
  }

  #printed(path: VariablePath, dot: DeclaredValue): void {
    const { schema, isRoot, name } = this.#find(path, dot)
    if (isRoot) return this.#fault('. and $ stand for all variables here; name one of them', path, name)
    const { types } = schema ?? {}
    if (types?.every((type) => type === 'object' || type === 'array'))
      this.#fault(`${name} is declared as ${typesInWords(types)}, which cannot be printed`, path, name)
  }

  #entry(path: VariablePath, dot: DeclaredValue): DeclaredValue {
    const { schema, isRoot, name } = this.#find(path, dot)
    const { types, items } = schema ?? {}
    if (isRoot) this.#fault('. and $ stand for all variables here; range goes through one list', path, name)
    else if (types && !types.includes('array'))
      this.#fault(`${name} is declared as ${typesInWords(types)}, and range goes through a list`, path, name)
    return { schema: items, isRoot: false, name: `${name}[]` }
  }

  /** The declaration that a path leads to. */
  #find(path: VariablePath, dot: DeclaredValue): DeclaredValue {
    const start = path.fromRoot ? this.root : dot
    if (path.names.length === 0) return start
    const [first = ''] = path.names
    const whole = nameOf(start, path.names)
    if (start.isRoot && ofForms.some((name) => name === first) && !ofForms.every((name) => start.schema?.properties?.has(name))) {
      this.#fault(`${whole} belongs to replies to forms; declare both fields and form in schema_json`, path, whole)
      return { schema: undefined, isRoot: false, name: whole }
    }
    let { schema } = start
    for (const [index, name] of path.names.entries()) {
      const next = schema && fieldOf(schema, name)
      if (schema && !next) this.#fault(noField(schema, nameOf(start, path.names.slice(0, index)), whole), path, whole)
      schema = next === 'anything' ? undefined : next
    }
    return { schema, isRoot: false, name: whole }
  }

  #fault(message: string, { at }: VariablePath, name: string): void {
    if (!this.faults.has(name)) this.faults.set(name, new TemplateFault(message, at, name))
  }
}

const nameOf = ({ name }: DeclaredValue, names: readonly string[]): string => [...(name === '' ? [] : [name]), ...names].join('.')

/** The declaration of a field; undefined where there can be none. */
function fieldOf({ types, properties, closed }: Schema, name: string): Schema | 'anything' | undefined {
  if (types && !types.includes('object')) return undefined
  return properties || closed ? properties?.get(name) : 'anything'
}

function noField({ types }: Schema, parent: string, whole: string): string {
  if (types && !types.includes('object')) return `${parent} is declared as ${typesInWords(types)}, which has no fields`
  return `${whole} is not declared in schema_json`
}
