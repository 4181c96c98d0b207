/** Finds object literals read by computed names. */
import { Visitor, type Expression, type MemberExpression, type Program, type PropertyKey, type TSType } from 'oxc-parser'

/** A read by a computed name, with the name of the object and the offset in the text. */
export interface NameRead {
  readonly name: string
  readonly start: number
}

/**
 * Finds reads by computed names of variables and fields that begin as `{}` and accept any name. Names are matched within the whole file.
 */
export function nameReadsOf(program: Program): readonly NameRead[] {
  const maps = new Set<string>()
  const reads: NameRead[] = []
  const written = new Set<MemberExpression>()
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && isNameMap(init, id.typeAnnotation?.typeAnnotation)) maps.add(id.name)
    },
    PropertyDefinition({ key, value, typeAnnotation }) {
      if (isNameMap(value, typeAnnotation?.typeAnnotation)) maps.add(nameOf(key))
    },
    AssignmentExpression: ({ operator, left }) => operator === '=' && left.type === 'MemberExpression' && written.add(left),
    MemberExpression(node) {
      const isNamed = !node.computed || node.property.type === 'Literal'
      if (!isNamed && !written.has(node)) reads.push({ name: ownerOf(node.object), start: node.start })
    },
  }).visit(program)
  return reads.filter(({ name }) => maps.has(name))
}

function isNameMap(value: Expression | null, type: TSType | undefined): boolean {
  if (value?.type === 'TSAsExpression') return isNameMap(value.expression, type ?? value.typeAnnotation)
  return value?.type === 'ObjectExpression' && value.properties.length === 0 && type !== undefined && takesAnyName(type)
}

/** `Record<string, …>`, also inside `Readonly` and `Partial`. */
function takesAnyName(type: TSType): boolean {
  if (type.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return false
  const [first] = type.typeArguments?.params ?? []
  return type.typeName.name === 'Record' ? first?.type === 'TSStringKeyword' : first !== undefined && takesAnyName(first)
}

const nameOf = (key: PropertyKey): string => (key.type === 'Identifier' || key.type === 'PrivateIdentifier' ? key.name : '')

/** The name of `a` and of `this.a`. */
function ownerOf(object: Expression): string {
  if (object.type === 'Identifier') return object.name
  return object.type === 'MemberExpression' && object.object.type === 'ThisExpression' ? nameOf(object.property) : ''
}
