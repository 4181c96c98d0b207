/** What the own role allows, as far as screens show it as possible; the service decides. */
import { computed } from '@preact/signals'
import { organization } from './location.ts'

const role = computed(() => organization.value?.role ?? 'billing')

/** Reads what belongs to projects. */
export const mayRead = computed(() => role.value !== 'billing')
/** Changes what belongs to projects, and sends. */
export const mayChange = computed(() => role.value === 'owner' || role.value === 'admin' || role.value === 'developer')
/** Changes what belongs to the whole organization. */
export const mayAdminister = computed(() => role.value === 'owner' || role.value === 'admin')
