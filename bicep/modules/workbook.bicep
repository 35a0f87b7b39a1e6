metadata name = 'Workbook'
metadata description = 'A workbook of Azure Monitor over the workspace.'

// Free of charge, and so are queries of tables on the Analytics plan.
// Every deployment overwrites changes made in the portal: save such a change under another name.

import { tagsType } from '../types.bicep'

@description('Required. Stable name, from which the id of the workbook is generated.')
param name string

@description('Required. Display name in the portal.')
param displayName string

@description('Optional. Description of its contents.')
param summary string = ''

@description('Optional. Region of the workbook.')
param location string = resourceGroup().location

@description('Optional. Tags of the workbook.')
param tags tagsType = {}

@description('Required. Resource id of the workspace under which the portal lists it.')
param workspaceResourceId string

@description('Required. Text of the workbook, without resource ids.')
param content string

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, name)
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: displayName
    description: summary
    category: 'workbook'
    version: 'Notebook/1.0'
    sourceId: workspaceResourceId
    serializedData: content
  }
}

@description('Id of the workbook.')
output name string = workbook.name

@description('Resource id of the workbook.')
output resourceId string = workbook.id
