/** The types of buckets that Ceph comes with, from the narrowest to the widest. */
export const crushTypes: readonly string[] = [
  'osd',
  'host',
  'chassis',
  'rack',
  'row',
  'pdu',
  'pod',
  'room',
  'datacenter',
  'zone',
  'region',
  'root',
]
