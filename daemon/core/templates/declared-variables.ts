/** Checks that the schema declares every variable of a template. Spec "Template". */
import type { Schema } from './schema.ts'
import { typeNames } from './schema-values.ts'
import type { Branch, Node, ParsedTemplate, VariablePath } from './syntax.ts'
import { TemplateFault } from './template-fault.ts'

/** Variables of a reply to a form submission, which belong together. */
const ofForms = ['fields', 'form'] as const

/** Declaration of a variable. Without a schema, any value is allowed. */
interface DeclaredValue {
  readonly schema: Schema | undefined
  readonly isRoot: boolean
  readonly name: string
}

/** Returns one fault for each undeclared or misused variable, at its first use. */
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
    if (isRoot) return this.#fault('. and $ refer to all variables here; use a variable name', path, name)
    const { types } = schema ?? {}
    if (types?.every((type) => type === 'object' || type === 'array'))
      this.#fault(`${name} is declared as ${typeNames(types)}, which cannot be printed`, path, name)
  }

  #entry(path: VariablePath, dot: DeclaredValue): DeclaredValue {
    const { schema, isRoot, name } = this.#find(path, dot)
    const { types, items } = schema ?? {}
    if (isRoot) this.#fault('. and $ refer to all variables here; name a list after range', path, name)
    else if (types && !types.includes('array'))
      this.#fault(`${name} is declared as ${typeNames(types)}, but range requires a list`, path, name)
    return { schema: items, isRoot: false, name: `${name}[]` }
  }

  /** Returns the declaration at the end of a path. */
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

/** Returns the declaration of a field; undefined if the field cannot exist. */
function fieldOf({ types, properties, closed }: Schema, name: string): Schema | 'anything' | undefined {
  if (types && !types.includes('object')) return undefined
  return properties || closed ? properties?.get(name) : 'anything'
}

function noField({ types }: Schema, parent: string, whole: string): string {
  if (types && !types.includes('object')) return `${parent} is declared as ${typeNames(types)}, which has no fields`
  return `${whole} is not declared in schema_json`
}
