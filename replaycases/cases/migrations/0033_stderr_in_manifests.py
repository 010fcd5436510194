from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("cases", "0032_sealed_while_quarantined")]

    operations = [migrations.RemoveField(model_name="run", name="stderr")]
