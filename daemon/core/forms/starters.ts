/** Starter forms, ready to be published. */
import type { Field } from './definition/definition.ts'

const name: Field = { key: 'name', type: 'text', label: 'Name', required: true, autocomplete: 'name' }
const email: Field = { key: 'email', type: 'email', label: 'Email', required: true, autocomplete: 'email', prefill: true }
/** Displayed in the letterhead of the page, next to the questions. */
const intro = (text: string): Field => ({ key: 'intro', type: 'paragraph', text })
const options = (...labels: readonly string[]) =>
  labels.map((label) => ({ value: label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'), label }))

interface Starter {
  readonly fields: readonly Field[]
  readonly rows?: readonly { readonly fields: readonly string[] }[]
  readonly rules?: readonly unknown[]
  readonly thanks: { readonly title: string; readonly body: string }
  readonly submit: string
}

const starters = {
  contact: {
    fields: [
      intro('Ask us anything. We read every message and answer by email.'),
      name,
      email,
      { key: 'message', type: 'textarea', label: 'Message', required: true, rows: 6 },
    ],
    rows: [{ fields: ['intro'] }, { fields: ['name', 'email'] }, { fields: ['message'] }],
    thanks: { title: 'Thank you', body: 'We read every message and answer as soon as we can.' },
    submit: 'Send message',
  },
  support: {
    fields: [
      intro('Describe the problem, and we will help you by email. The more details you give, the faster we can help.'),
      name,
      email,
      { key: 'topic', type: 'select', label: 'Topic', required: true, options: options('Question', 'Problem', 'Invoice', 'Other') },
      { key: 'severity', type: 'radio', label: 'How bad is it?', options: options('I can go on', 'It slows me down', 'I cannot work') },
      {
        key: 'message',
        type: 'textarea',
        label: 'What happened?',
        required: true,
        rows: 8,
        help: 'What did you do, and what did you expect?',
      },
    ],
    rows: [{ fields: ['intro'] }, { fields: ['name', 'email'] }],
    rules: [
      {
        id: 'severity-of-problems',
        when: { field: 'topic', op: 'eq', value: 'problem' },
        then: ['show', 'require'].map((action) => ({ action, target: 'severity' })),
      },
    ],
    thanks: { title: 'We have it', body: 'Your request is with us. We answer by email.' },
    submit: 'Send request',
  },
  feedback: {
    fields: [
      intro('Two questions. Say it as it is: that helps us most.'),
      {
        key: 'score',
        type: 'scale',
        label: 'How likely are you to recommend us?',
        required: true,
        min: 0,
        max: 10,
        low_label: 'Not at all',
        high_label: 'Very likely',
      },
      { key: 'reason', type: 'textarea', label: 'What is the main reason for your answer?', rows: 4 },
      { key: 'may_ask', type: 'checkbox', label: 'You may ask me about it' },
      { ...email, required: false },
    ],
    rules: [
      {
        id: 'address-to-ask',
        when: { field: 'may_ask', op: 'checked' },
        then: ['show', 'require'].map((action) => ({ action, target: 'email' })),
      },
    ],
    thanks: { title: 'Thank you', body: 'Your feedback helps us to do better.' },
    submit: 'Send feedback',
  },
  rsvp: {
    fields: [
      intro('Let us know whether you come, so that we can plan.'),
      name,
      email,
      { key: 'coming', type: 'radio', label: 'Are you coming?', required: true, options: options('Yes', 'No') },
      { key: 'guests', type: 'number', label: 'How many are you?', integer: true, min: 1, max: 10 },
      { key: 'note', type: 'textarea', label: 'Is there anything that we should know?', rows: 3 },
    ],
    rows: [{ fields: ['intro'] }, { fields: ['name', 'email'] }],
    rules: [
      {
        id: 'guests-who-come',
        when: { field: 'coming', op: 'eq', value: 'yes' },
        then: ['show', 'require'].map((action) => ({ action, target: 'guests' })),
      },
    ],
    thanks: { title: 'Noted', body: 'Thank you for your answer.' },
    submit: 'Send answer',
  },
  application: {
    fields: [
      { key: 'about', type: 'page_break', title: 'About you' },
      intro('It takes about five minutes. We read every application.'),
      name,
      email,
      { key: 'phone', type: 'phone', label: 'Telephone', autocomplete: 'tel' },
      { key: 'work', type: 'page_break', title: 'Your work' },
      { key: 'position', type: 'text', label: 'Position that you apply for', required: true },
      { key: 'profile', type: 'url', label: 'Portfolio or profile', help: 'A link is enough.' },
      { key: 'letter', type: 'textarea', label: 'Why you?', required: true, rows: 10 },
      { key: 'start', type: 'date', label: 'Earliest start', min: 'today' },
      {
        key: 'privacy',
        type: 'consent',
        label: 'Privacy',
        label_hidden: true,
        required: true,
        text: 'You may keep my application for the time of the selection.',
      },
    ],
    thanks: { title: 'Thank you for applying', body: 'We write to you when we have read your application.' },
    submit: 'Send application',
  },
  'newsletter-optin': {
    fields: [
      intro('News by email, now and then.'),
      email,
      { key: 'topics', type: 'checkboxes', label: 'Topics', options: options('News', 'Offers', 'Events') },
      {
        key: 'consent',
        type: 'consent',
        label: 'Consent',
        label_hidden: true,
        required: true,
        text: 'I want to get the newsletter, and can unsubscribe at any time.',
      },
    ],
    thanks: { title: 'Thank you', body: 'We have your wish.' },
    submit: 'Subscribe',
  },
} as const satisfies Record<string, Starter>

export const starterNames = Object.keys(starters) as [StarterName, ...StarterName[]]
export type StarterName = keyof typeof starters

/** Returns the definition of a starter with the given name. */
export function starterDefinition(starter: StarterName, formName: string): Readonly<Record<string, unknown>> {
  const { fields, rows, rules = [], thanks, submit }: Starter = starters[starter]
  return {
    name: formName,
    locale: 'en',
    schema: { version: 1, fields, ...(rows && { layout: { version: 1, rows } }) },
    logic: { version: 1, rules },
    thank_you: { ...thanks, redirect_url: null, variants: [] },
    settings: { submit_label: submit },
  }
}

/** Returns the definition of an empty form. */
export const blankDefinition = (formName: string): Readonly<Record<string, unknown>> => ({
  name: formName,
  schema: { version: 1, fields: [] },
})
