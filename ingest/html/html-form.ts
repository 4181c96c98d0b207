/**
 * Converts a form of a web page to a form definition: its controls with their labels, in order. Scripts, styles and addresses are ignored.
 */
import type { Field, FieldType, Option } from '#core/forms/definition/definition.ts'

/** The form definition, not validated yet. */
export interface ReadForm {
  readonly fields: readonly Field[]
  /** The text of the submit button, if it has any. */
  readonly submitLabel: string | undefined
}

type Attributes = Readonly<Record<string, string>>

const types: ReadonlyMap<string, FieldType> = new Map([
  ['text', 'text'],
  ['search', 'text'],
  ['email', 'email'],
  ['tel', 'phone'],
  ['url', 'url'],
  ['number', 'number'],
  ['range', 'number'],
  ['date', 'date'],
  ['time', 'time'],
  ['datetime-local', 'datetime'],
  ['checkbox', 'checkbox'],
  ['radio', 'radio'],
  ['hidden', 'hidden'],
  ['file', 'file_upload'],
])
const withPlaceholder = new Set<FieldType>(['text', 'textarea', 'email', 'phone', 'url', 'number'])
const maxFields = 200
const maxOptions = 500
const maxLabel = 200

/** A control as found on the page. */
interface Control {
  readonly type: FieldType
  readonly name: string
  readonly attributes: Attributes
  /** Text of the enclosing label or fieldset. */
  label: string
  readonly options: Choice[]
}

interface Choice extends Option {
  /** The ID that a label elsewhere on the page may name. */
  readonly id?: string | undefined
}

/** Reads the first form, or all controls if the page has no form. */
export async function readHtmlForm(html: string): Promise<ReadForm> {
  const { Parser } = await import('htmlparser2')
  const reading = new Reading()
  const parser = new Parser({
    onopentag: (name, attributes) => reading.open(name, attributes),
    ontext: (text) => reading.text(text),
    onclosetag: (name) => reading.close(name),
  })
  try {
    parser.write(html)
    parser.end()
  } catch (error) {
    if (!(error instanceof NestedTooDeep)) throw error // the controls already found are returned
  }
  return reading.result()
}

/** The parser needs more time for each element the more elements are open. */
const maxOpen = 500
class NestedTooDeep extends Error {}

class Reading {
  readonly #controls: Control[] = []
  readonly #labels = new Map<string, string>()
  readonly #groups = new Map<string, Control>()
  #submitLabel: string | undefined
  #isOver = false
  #opened = 0
  /** Inside a script or style, which contain no elements. */
  #isCode = false
  /** Text collected for the current label, legend, option or button. */
  #text = ''
  #labelFor: string | undefined
  #inLabel: Control[] | undefined
  #legend = ''
  #select: Control | undefined
  #optionValue: string | undefined

  open(name: string, attributes: Attributes): void {
    if (++this.#opened > maxOpen) throw new NestedTooDeep()
    if (this.#isOver) return
    this.#isCode = name === 'script' || name === 'style'
    if (name === 'form') this.#restart()
    else if (name === 'label') [this.#text, this.#labelFor, this.#inLabel] = ['', attributes['for'], []]
    else if (name === 'legend' || name === 'button') this.#text = ''
    else if (name === 'textarea') this.#add('textarea', attributes)
    else if (name === 'select') this.#select = this.#add('multiple' in attributes ? 'checkboxes' : 'select', attributes)
    else if (name === 'option') [this.#text, this.#optionValue] = ['', attributes['value']]
    else if (name === 'input') this.#input(attributes)
  }

  text(text: string): void {
    if (!this.#isCode && this.#text.length < 4 * maxLabel) this.#text += text
  }

  close(name: string): void {
    this.#opened--
    this.#isCode = false
    if (this.#isOver) return
    if (name === 'label') this.#endLabel()
    else if (name === 'legend') this.#legend = this.#plainText()
    else if (name === 'fieldset') this.#legend = ''
    else if (name === 'option') this.#endOption()
    else if (name === 'select') this.#select = undefined
    else if (name === 'button') this.#submitLabel ??= this.#plainText() || undefined
    else if (name === 'form') this.#isOver = this.#controls.length > 0
  }

  result(): ReadForm {
    const keys = new Set<string>()
    return { fields: this.#controls.map((control) => this.#field(control, keys)), submitLabel: this.#submitLabel?.slice(0, 60) }
  }

  /** Discards the controls found before the form. */
  #restart(): void {
    this.#controls.length = 0
    this.#groups.clear()
    this.#labels.clear()
    this.#submitLabel = undefined
  }

  #input(attributes: Attributes): void {
    const kind = (attributes['type'] ?? 'text').toLowerCase()
    if (kind === 'submit') this.#submitLabel ??= attributes['value']
    const type = types.get(kind) ?? (kind === 'password' ? undefined : 'text')
    if (type === undefined || ['submit', 'button', 'reset', 'image'].includes(kind)) return
    const group = this.#groups.get(`${kind} ${attributes['name'] ?? ''}`)
    if (group && (kind === 'radio' || kind === 'checkbox')) return this.#choice(group, attributes)
    const control = this.#add(type, attributes)
    if (!control || (kind !== 'radio' && kind !== 'checkbox')) return
    this.#groups.set(`${kind} ${control.name}`, control)
    this.#choice(control, attributes)
    if (kind === 'radio') control.label = this.#legend
  }

  /** Adds an option to a group of inputs with the same name. Its label follows. */
  #choice(group: Control, attributes: Attributes): void {
    if (group.options.length >= maxOptions) return
    const value = attributes['value'] ?? 'on'
    group.options.push({ value, label: value, id: attributes['id'] })
    this.#inLabel?.push(group)
  }

  #add(type: FieldType, attributes: Attributes): Control | undefined {
    if (this.#controls.length >= maxFields) return undefined
    const control: Control = { type, name: attributes['name'] ?? attributes['id'] ?? type, attributes, label: '', options: [] }
    this.#controls.push(control)
    if (type !== 'radio' && type !== 'checkbox') this.#inLabel?.push(control)
    return control
  }

  #endLabel(): void {
    const plainText = this.#plainText()
    for (const control of this.#inLabel ?? []) {
      const last = control.options.at(-1)
      if (control.type !== 'select' && control.type !== 'checkboxes' && last)
        control.options.splice(-1, 1, { ...last, label: plainText || last.label })
      else control.label = plainText
    }
    if (this.#labelFor !== undefined) this.#labels.set(this.#labelFor, plainText)
    ;[this.#labelFor, this.#inLabel] = [undefined, undefined]
  }

  #endOption(): void {
    const label = this.#plainText()
    const value = this.#optionValue ?? label
    if (this.#select && value !== '' && label !== '' && this.#select.options.length < maxOptions)
      this.#select.options.push({ value: value.slice(0, 200), label })
    this.#text = ''
  }

  #plainText(): string {
    return this.#text.replaceAll(/\s+/g, ' ').trim().slice(0, maxLabel)
  }

  #field({ type: read, name, attributes, label: around, options: given }: Control, keys: Set<string>): Field {
    const options = given.map(({ value, label, id = '' }) => ({ value: value.slice(0, maxLabel), label: this.#labels.get(id) || label }))
    const isMany = read === 'checkbox' && options.length > 1
    const type = isMany ? 'checkboxes' : read
    const own = this.#labels.get(attributes['id'] ?? '') ?? ''
    const single = type === 'checkbox' ? (options[0]?.label ?? '') : ''
    const label =
      [around, isMany || type === 'radio' ? '' : own, attributes['aria-label'], single === 'on' ? '' : single].find((label) => label) ??
      labelOf(name)
    const key = keyOf(name, keys)
    if (type === 'hidden') return { key, type, label, source: 'static', default: (attributes['value'] ?? '').slice(0, 1000) }
    const unique = [...new Map(options.map((option) => [option.value, option])).values()].filter(({ value }) => value !== '')
    return {
      ...{ key, type, label },
      ...('required' in attributes && { required: true }),
      ...(withPlaceholder.has(type) &&
        attributes['placeholder'] && { placeholder: attributes['placeholder'].replaceAll(/\s+/g, ' ').slice(0, 200) }),
      ...((type === 'select' || type === 'radio' || type === 'checkboxes') && { options: unique }),
    }
  }
}

/** Converts a name such as `Your-Name[]` to a unique key such as `your_name`. */
function keyOf(name: string, keys: Set<string>): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '')
    .slice(0, 56)
  const base =
    plain === '' || plain === 'data' || plain === 'captcha_token' || plain === 'constructor' ? `field_${plain}`.replace(/_$/, '') : plain
  let key = base
  for (let at = 2; keys.has(key); at++) key = `${base}_${at}`
  keys.add(key)
  return key
}

const labelOf = (name: string): string => {
  const text = name
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, maxLabel)
  return text === '' ? 'Field' : text.charAt(0).toUpperCase() + text.slice(1)
}
