/** Reads the parts of a form definition that are necessary to display answers. */

interface Field {
  readonly key: string
  readonly type: string
  readonly label?: string
  readonly max?: number
  readonly options?: readonly { readonly value: string; readonly label: string }[]
}

/** Returns the fields in the order of the form. */
export function fieldsOf(definition: Readonly<Record<string, unknown>> | undefined): readonly Field[] {
  const { schema } = (definition ?? {}) as { readonly schema?: { readonly fields?: readonly Field[] } }
  return schema?.fields ?? []
}

export type { Field }
