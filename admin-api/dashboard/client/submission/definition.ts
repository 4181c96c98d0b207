/** As much of the definition of a form as it takes to read answers to it. */

interface Field {
  readonly key: string
  readonly type: string
  readonly label?: string
  readonly max?: number
  readonly options?: readonly { readonly value: string; readonly label: string }[]
}

/** What was asked, in the order of the form. */
export function fieldsOf(definition: Readonly<Record<string, unknown>> | undefined): readonly Field[] {
  const { schema } = (definition ?? {}) as { readonly schema?: { readonly fields?: readonly Field[] } }
  return schema?.fields ?? []
}

export type { Field }
