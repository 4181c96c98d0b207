/** Finds the state of a module: variables that its functions change and all callers of the process share. */
import {
  Visitor,
  type ArrowFunctionExpression,
  type AssignmentTarget,
  type BindingPattern,
  type Expression,
  type Function,
  type Program,
  type PropertyKey,
  type SimpleAssignmentTarget,
  type VisitorObject,
} from 'oxc-parser'

/** A variable of a module, or a static field of a class, with its offset in the text. */
export interface State {
  readonly name: string
  readonly start: number
}

/** Methods that change a map, a set, an array, and collections of our own. */
const changing = new Set(
  'add clear copyWithin delete fill getOrInsert getOrInsertComputed pop push reverse set shift sort splice unshift'.split(' '),
)

/** Finds each `let` of a module, each constant that a function changes, and such static fields, named `Class.field`. */
export function stateOf(program: Program): readonly State[] {
  const { variables, constants } = declaredIn(program)
  const found = new Map(variables)
  const locals: Set<string>[] = [] // parameters and variables of each enclosing function
  const enter = ({ params }: Function | ArrowFunctionExpression): number =>
    locals.push(new Set(params.flatMap((param) => (param.type === 'TSParameterProperty' ? [] : namesIn(param)))))
  const leave = (): unknown => locals.pop()
  const change = (target: Expression): void => {
    const [name = '', field = ''] = pathOf(target)
    if (locals.length === 0 || locals.some((names) => names.has(name))) return
    for (const owner of [name, `${name}.${field}`]) {
      const start = constants.get(owner)
      if (start !== undefined) found.set(owner, start)
    }
  }
  const assign = (target: AssignmentTarget | SimpleAssignmentTarget | Expression): void => {
    // callers set `lastIndex` of a sticky pattern before each use
    if (target.type !== 'MemberExpression' || (target.property.type === 'Identifier' && target.property.name === 'lastIndex')) return
    change(target.object)
  }
  new Visitor({
    ...functionVisits(enter, leave),
    VariableDeclarator: ({ id }) => namesIn(id).forEach((name) => locals.at(-1)?.add(name)),
    AssignmentExpression: ({ left }) => assign(left),
    UpdateExpression: ({ argument }) => assign(argument),
    UnaryExpression: ({ operator, argument }) => operator === 'delete' && assign(argument),
    CallExpression({ callee }) {
      if (callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && changing.has(callee.property.name))
        change(callee.object)
    },
  }).visit(program)
  return [...found].map(([name, start]) => ({ name, start }))
}

type Visit = (node: Function | ArrowFunctionExpression) => unknown

/** Calls `enter` and `leave` for every kind of function. */
export const functionVisits = (enter: Visit, leave: Visit): VisitorObject => ({
  FunctionDeclaration: enter,
  FunctionExpression: enter,
  ArrowFunctionExpression: enter,
  'FunctionDeclaration:exit': leave,
  'FunctionExpression:exit': leave,
  'ArrowFunctionExpression:exit': leave,
})

/** Variables and constants of the module and of its classes, by name. */
function declaredIn(program: Program): Readonly<Record<'variables' | 'constants', ReadonlyMap<string, number>>> {
  const variables = new Map<string, number>()
  const constants = new Map<string, number>()
  for (const statement of program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration?.type === 'VariableDeclaration' && !declaration.declare) {
      for (const { id, start } of declaration.declarations)
        for (const name of namesIn(id)) (declaration.kind === 'let' ? variables : constants).set(name, start)
    } else if (declaration?.type === 'ClassDeclaration') {
      for (const field of declaration.body.body)
        if (field.type === 'PropertyDefinition' && field.static)
          (field.readonly ? constants : variables).set(`${declaration.id?.name ?? ''}.${nameOf(field.key)}`, field.start)
    }
  }
  return { variables, constants }
}

/** The names at the beginning of `a`, `a.b.c` and `a[0].b`. */
function pathOf(target: Expression): readonly string[] {
  if (target.type === 'MemberExpression') return [...pathOf(target.object), nameOf(target.property)]
  if (target.type === 'TSNonNullExpression') return pathOf(target.expression)
  return target.type === 'Identifier' ? [target.name] : []
}

const nameOf = (key: PropertyKey): string => (key.type === 'Identifier' || key.type === 'PrivateIdentifier' ? key.name : '')

/** The names that a pattern declares. */
function namesIn(pattern: BindingPattern | { readonly type: 'RestElement'; readonly argument: BindingPattern }): readonly string[] {
  if (pattern.type === 'Identifier') return [pattern.name]
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern.left)
  if (pattern.type === 'RestElement') return namesIn(pattern.argument)
  if (pattern.type === 'ArrayPattern') return pattern.elements.flatMap((element) => (element ? namesIn(element) : []))
  return pattern.properties.flatMap((property) => namesIn(property.type === 'RestElement' ? property : property.value))
}
