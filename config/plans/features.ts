/** Registry of all features that can be switched off for an organization, with the routes, tools and screens of each. */
import type { Plan } from './plans.ts'

export interface FeatureFlag {
  /** State in an organization without a setting for the flag. */
  readonly default: boolean
  /** Completes the sentence "… is switched off for this organization". */
  readonly what: string
  /** Plan limit (yes or no) that must also include the feature. */
  readonly plan?: keyof Plan
  /**
   * Prefixes of paths, for people. Each action below them that requires a key names the flag as its `feature`, except actions in `always`.
   * Operations without authentication check the flag of the owning organization themselves.
   */
  readonly routes: readonly string[]
  /** Ids of other operations that are refused if the request or the addressed resource belongs to the feature. */
  readonly within: readonly string[]
  /** Names of agent tools that need the flag. */
  readonly tools: readonly string[]
  /** Names of dashboard screens that need the flag. */
  readonly screens: readonly string[]
  /** Ids of operations under `routes`, and tools, that remain available without the flag. */
  readonly always: readonly string[]
}

const effectOnly = { routes: [], within: [], tools: [], screens: [], always: [] }

export const features = {
  templates: {
    default: true,
    what: 'Sending from templates',
    routes: ['/v1/templates'],
    within: ['sendMessage'],
    tools: [
      'email_template_create',
      'email_template_list',
      'email_template_versions_list',
      'email_template_render_preview',
      'email_template_delete',
    ],
    screens: ['templates'],
    always: [],
  },
  bulk_replay: {
    default: true,
    what: 'Bulk replay',
    plan: 'bulkReplay',
    routes: ['/v1/replays'],
    within: [],
    tools: ['email_bulk_replay', 'email_bulk_replay_status'],
    screens: ['replays'],
    always: [],
  },
  inspect: {
    default: true,
    what: 'The deliverability test',
    routes: ['/v1/inspect'],
    within: [],
    tools: ['email_inspect_address_create', 'email_inspect_report_get'],
    screens: ['inspect'],
    always: [],
  },
  inbound_routes: {
    default: true,
    what: 'Routing of incoming mail',
    routes: ['/v1/inbound-routes'],
    within: ['followInboundLink'],
    tools: ['email_inbound_route_create', 'email_inbound_messages_list'],
    screens: ['inbound-routes'],
    always: [],
  },
  bounce_sources: {
    default: true,
    what: 'Taking in bounces and complaints',
    routes: ['/v1/ingest-sources', '/v1/mailenable'],
    within: ['ingestStalwart', 'ingestReportMail', 'ingestLogs', 'ingestMailEnable', 'checkMailEnable', 'ingestActivityLog'],
    tools: [
      'bounce_source_create',
      'bounce_source_list',
      'bounce_source_get',
      'bounce_source_revoke',
      'mailenable_postoffice_map_create',
      'mailenable_postoffice_map_list',
      'mailenable_postoffice_map_delete',
    ],
    screens: ['bounce-sources'],
    always: [],
  },
  smtp_relay: {
    default: true,
    what: 'Sending by SMTP',
    routes: ['/v1/smtp-credentials'],
    within: [],
    tools: [
      'smtp_credential_create',
      'smtp_credential_list',
      'smtp_credential_rotate',
      'smtp_credential_update',
      'smtp_credential_test_connection',
      'smtp_credential_revoke',
    ],
    screens: ['smtp-credentials'],
    always: ['revokeSmtpCredential', 'smtp_credential_revoke'],
  },
  tenant_partitions: {
    default: true,
    what: 'Making and changing partitions of projects',
    plan: 'subProjects',
    routes: [],
    within: ['createProject', 'updateProject'],
    tools: ['project_sub_create', 'project_sub_list', 'project_sub_delete', 'project_sub_set_quota'],
    screens: ['sub-projects'],
    always: [],
  },
  webhooks: {
    default: true,
    what: 'Event webhooks',
    routes: ['/v1/webhooks'],
    within: [],
    tools: [
      'webhook_endpoint_create',
      'webhook_endpoint_list',
      'webhook_endpoint_rotate_secret',
      'webhook_endpoint_delete',
      'webhook_attempts_list',
    ],
    screens: ['webhooks'],
    always: [],
  },
  alerts: {
    default: true,
    what: 'Alerts',
    routes: ['/v1/alert-channels'],
    within: [],
    tools: [],
    screens: [],
    always: ['deleteAlertChannel'],
  },
  virtual_inboxes: {
    default: true,
    what: 'Making virtual inboxes',
    routes: ['/v1/inboxes'],
    within: [],
    tools: ['virtual_inbox_create', 'virtual_inbox_update', 'virtual_inbox_delete', 'virtual_inbox_messages_clear'],
    screens: ['virtual-inboxes'],
    always: [
      'listInboxes',
      'listInboxFigures',
      'lookUpInbox',
      'getInbox',
      'listInboxMessages',
      'getInboxMessage',
      'getRawInboxMessage',
      'getInboxAttachment',
      'waitForInboxMessage',
      'virtual_inbox_list',
      'virtual_inbox_get',
      'virtual_inbox_messages_list',
      'virtual_inbox_message_get',
      'virtual_inbox_message_wait',
    ],
  },
  publishable_keys: {
    default: true,
    what: 'Publishable keys',
    routes: ['/v1/publishable-keys'],
    within: [],
    tools: [
      'publishable_key_create',
      'publishable_key_list',
      'publishable_key_rotate',
      'publishable_key_revoke',
      'email_html_snippet_generate',
    ],
    screens: ['publishable-keys'],
    always: [],
  },
  forms: {
    default: true,
    what: 'Forms',
    routes: ['/v1/forms'],
    within: [],
    tools: ['form_create', 'form_publish', 'form_embed_snippet_generate', 'form_list', 'form_reply_draft_create', 'form_reply_send'],
    screens: ['forms', 'submissions'],
    always: [],
  },
  managed_websites: {
    default: true,
    what: 'Managed Websites',
    routes: ['/v1/sites'],
    within: [],
    tools: [],
    screens: ['websites'],
    always: [],
  },
  bounce_auto_suppress: { ...effectOnly, default: false, what: 'Suppression of recipients after a bounce or complaint' },
  verp: { ...effectOnly, default: true, what: 'VERP', plan: 'tracking' },
  click_tracking: { ...effectOnly, default: true, what: 'Click tracking', plan: 'tracking' },
  open_tracking: { ...effectOnly, default: true, what: 'Open tracking', plan: 'tracking' },
} as const satisfies Record<string, FeatureFlag>

export type Feature = keyof typeof features

export const featureNames = Object.keys(features) as readonly Feature[]

/** Returns the entry of a flag with all optional fields. */
export const featureFlag = (feature: Feature): FeatureFlag => features[feature]
