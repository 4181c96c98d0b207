/** Actions on the fields of a form, shared by the list, the preview and the shortcuts. */
import type { Field, FieldType } from '#core/forms/definition/definition.ts'
import type { Definition } from '#core/forms/definition/definition.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Editing } from '../forms/use-draft.ts'
import { texts } from './designer-texts.ts'
import { freeKey, newField, renamed, rulesWithout, titleOf } from '../form-fields/field-kinds.ts'
import { addField, insertField, joinField, moveField, placeField, removeField, shiftField, sizeField } from './rows.ts'

export interface FieldActions {
  /** Adds a field after the selected field, or before the row with index `before`. */
  readonly add: (type: FieldType, before?: number) => void
  readonly remove: (key: string) => void
  readonly duplicate: (key: string) => void
  readonly move: (key: string, by: -1 | 1) => void
  readonly shift: (key: string, by: -1 | 1) => void
  readonly join: (key: string, beside: string) => void
  readonly place: (key: string, before: number) => void
  readonly size: (key: string, span: number) => void
  /** Changes properties. Undefined values remove a property. */
  readonly set: (key: string, properties: { readonly [P in keyof Field]?: Field[P] | undefined }) => void
  readonly rename: (key: string, to: string) => void
}

/** Returns the selected field. The address holds it, so that it can be shared. Undefined if the form has no such field. */
export const chosenIn = ({ schema }: Definition): Field | undefined => schema.fields.find(({ key }) => key === query.value.get('field'))

export const choose = (key: string | undefined): void => go(linkHere({ field: key ?? '' }), { replaces: true })

export function actionsOn({ definition, change, undo }: Editing): FieldActions {
  const reshape = (to: (schema: Definition['schema']) => Definition['schema'], place = ''): void => {
    if (mayChange.value) change((before) => ({ ...before, schema: to(before.schema) }), place)
  }
  return {
    add(type, before) {
      const w = texts()
      const key = freeKey(type === 'page_break' ? 'step' : type, definition.schema.fields)
      const field = newField(type, key, { label: w.types[type], option: w.option })
      const after = chosenIn(definition)?.key
      reshape((schema) => (before === undefined ? addField(schema, field, after) : insertField(schema, field, before)))
      choose(key)
    },
    remove(key) {
      const { fields } = definition.schema
      const at = fields.findIndex((field) => field.key === key)
      const field = fields[at]
      if (!field || !mayChange.value) return
      const rules = rulesWithout(definition.logic.rules, key)
      const gone = definition.logic.rules.length - rules.length
      change((before) => ({ ...before, schema: removeField(before.schema, key), logic: { ...before.logic, rules } }))
      choose((fields[at + 1] ?? fields[at - 1])?.key)
      const name = plain(titleOf(field))
      toast(gone === 0 ? texts().removed({ name }) : texts().removedWith({ name, rules: gone }), undo ?? (() => change(() => definition)))
    },
    duplicate(key) {
      const field = definition.schema.fields.find((one) => one.key === key)
      if (!field) return
      const copy = { ...field, key: freeKey(key.replace(/_\d+$/, ''), definition.schema.fields) }
      reshape((schema) => addField(schema, copy, key))
      choose(copy.key)
    },
    move: (key, by) => reshape((schema) => moveField(schema, key, by)),
    shift: (key, by) => reshape((schema) => shiftField(schema, key, by)),
    join: (key, beside) => reshape((schema) => joinField(schema, key, beside)),
    place: (key, before) => reshape((schema) => placeField(schema, key, before)),
    size: (key, span) => reshape((schema) => sizeField(schema, key, span)),
    set(key, properties) {
      const place = `${key} ${Object.keys(properties).join()}`
      reshape(
        (schema) => ({ ...schema, fields: schema.fields.map((field) => (field.key === key ? merged(field, properties) : field)) }),
        place,
      )
    },
    rename(key, to) {
      if (mayChange.value) change((before) => renamed(before, key, to))
      choose(to)
    },
  }
}

const merged = (field: Field, properties: object): Field =>
  Object.fromEntries(Object.entries({ ...field, ...properties }).filter(([, value]) => value !== undefined)) as unknown as Field
